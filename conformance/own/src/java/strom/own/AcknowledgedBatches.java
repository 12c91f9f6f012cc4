package strom.own;

import org.apache.fluss.client.FlussConnection;
import org.apache.fluss.client.metadata.MetadataUpdater;
import org.apache.fluss.client.write.WriterClient;
import org.apache.fluss.record.LogRecord;
import org.apache.fluss.record.LogRecordBatch;
import org.apache.fluss.record.LogRecordReadContext;
import org.apache.fluss.record.MemoryLogRecords;
import org.apache.fluss.rpc.RpcClient;
import org.apache.fluss.rpc.gateway.TabletServerGateway;
import org.apache.fluss.rpc.messages.PbProduceLogReqForBucket;
import org.apache.fluss.rpc.messages.PbProduceLogRespForBucket;
import org.apache.fluss.rpc.messages.ProduceLogRequest;
import org.apache.fluss.rpc.messages.ProduceLogResponse;
import org.apache.fluss.types.RowType;
import org.apache.fluss.utils.CloseableIterator;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The official writer with an ear on its wire: for every batch that the server acknowledges, where (bucket and base
 * offset, as the answer says) and with which bytes. The client itself tells its user neither.
 */
final class AcknowledgedBatches {
    /** One acknowledged batch. */
    record Batch(int bucket, long baseOffset, byte[] records) {}

    private final List<Batch> batches = new ArrayList<>();

    /** A writer on the connection's network client and configuration. */
    WriterClient writer(FlussConnection conn) throws Exception {
        Field rpc = FlussConnection.class.getDeclaredField("rpcClient");
        rpc.setAccessible(true);
        MetadataUpdater listening = new MetadataUpdater(conn.getConfiguration(), (RpcClient) rpc.get(conn)) {
            @Override
            public TabletServerGateway newTabletServerClientForNode(int server) {
                TabletServerGateway gateway = super.newTabletServerClientForNode(server);
                return gateway == null ? null : listening(gateway);
            }
        };
        return new WriterClient(conn.getConfiguration(), listening, conn.getClientMetricGroup(), conn.getAdmin());
    }

    synchronized List<Batch> all() {
        return List.copyOf(batches);
    }

    /** Hands the rows of a batch (id of the writer, number in turn) to the ledger, each at its offset. */
    static void rowsInto(Ledger ledger, Batch batch, RowType type, int schemaId) throws Exception {
        long offset = batch.baseOffset;
        try (LogRecordReadContext context = LogRecordReadContext.createArrowReadContext(type, schemaId, null)) {
            for (LogRecordBatch one : MemoryLogRecords.pointToBytes(batch.records).batches()) {
                try (CloseableIterator<LogRecord> records = one.records(context)) {
                    while (records.hasNext()) {
                        var row = records.next().getRow();
                        ledger.acknowledge(batch.bucket, offset++, new Ledger.Row(row.getInt(0), row.getLong(1)));
                    }
                }
            }
        }
    }

    private TabletServerGateway listening(TabletServerGateway gateway) {
        return (TabletServerGateway) Proxy.newProxyInstance(TabletServerGateway.class.getClassLoader(),
                new Class<?>[] {TabletServerGateway.class},
                (proxy, method, args) -> method.getName().equals("produceLog") ? produce(gateway, (ProduceLogRequest) args[0]) : call(gateway, method, args));
    }

    private static Object call(TabletServerGateway gateway, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(gateway, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private CompletableFuture<ProduceLogResponse> produce(TabletServerGateway gateway, ProduceLogRequest request) {
        // The client takes its memory back when the answer is there, so the bytes are copied before.
        ProduceLogRequest copy = new ProduceLogRequest();
        copy.parseFrom(request.toByteArray());
        Map<Integer, byte[]> sent = new HashMap<>();
        for (PbProduceLogReqForBucket b : copy.getBucketsReqsList()) {
            sent.put(b.getBucketId(), b.getRecords());
        }
        return gateway.produceLog(request).thenApply(response -> note(response, sent));
    }

    private synchronized ProduceLogResponse note(ProduceLogResponse response, Map<Integer, byte[]> sent) {
        for (PbProduceLogRespForBucket b : response.getBucketsRespsList()) {
            if (!b.hasErrorCode() || b.getErrorCode() == 0) {
                batches.add(new Batch(b.getBucketId(), b.getBaseOffset(), sent.get(b.getBucketId())));
            }
        }
        return response;
    }
}
