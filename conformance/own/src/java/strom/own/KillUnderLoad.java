package strom.own;

import static org.apache.fluss.types.DataTypes.*;
import static strom.harness.Check.*;
import static strom.harness.Ctx.get;

import org.apache.fluss.client.Connection;
import org.apache.fluss.client.FlussConnection;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.scanner.log.ScanRecords;
import org.apache.fluss.client.write.WriteRecord;
import org.apache.fluss.client.write.WriterClient;
import org.apache.fluss.metadata.PhysicalTablePath;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableInfo;
import org.apache.fluss.metadata.TablePath;
import strom.harness.Ctx;
import strom.harness.Values;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * Four idempotent writers go on through kills of the server at seeded moments. In the end the log is exactly what they
 * wrote: each acknowledged row where its acknowledgement said, no row twice, each writer's rows in its order.
 * Options: own.kills, own.seed.
 */
final class KillUnderLoad {
    private static final int BUCKETS = 4;
    private static final int WRITERS = 4;
    private static final int IN_FLIGHT = 2000;
    private static final int ROWS_PER_PAUSE = 50;
    private static final long PAUSE_MS = 10;
    private static final Duration RECOVERY = Duration.ofSeconds(120);

    private final Ctx ctx;
    private final AcknowledgedBatches acknowledgements = new AcknowledgedBatches();
    private final List<Writer> writers = new ArrayList<>();
    private volatile boolean stop;

    KillUnderLoad(Ctx ctx) {
        this.ctx = ctx;
    }

    void run() throws Exception {
        long seed = OwnSuite.option("seed", 20260901);
        long kills = OwnSuite.option("kills", 20);
        Random random = new Random(seed);
        TablePath path = ctx.create(Ctx.log("writer", INT(), "seq", BIGINT(), "text", STRING()).distributedBy(BUCKETS).build());
        for (int i = 0; i < WRITERS; i++) {
            writers.add(new Writer(i, path));
        }
        writers.forEach(Thread::start);
        try {
            for (int k = 0; k < kills; k++) {
                everyWriterIsServed("before kill " + (k + 1) + " (seed " + seed + ")");
                Thread.sleep(random.nextInt(700));
                ctx.restartServer();
            }
            everyWriterIsServed("after the last kill (seed " + seed + ")");
        } finally {
            stop = true;
        }
        for (Writer w : writers) {
            w.join(RECOVERY.toMillis());
            that(!w.isAlive(), "writer %d still waits for acknowledgements %d s after the last kill", w.id, RECOVERY.toSeconds());
        }
        noFailure();
        long sent = writers.stream().mapToLong(w -> w.sent).sum();
        List<List<Ledger.Row>> logs = readAll(path);
        Ledger ledger = new Ledger();
        TableInfo table = get(ctx.admin.getTableInfo(path));
        for (AcknowledgedBatches.Batch batch : acknowledgements.all()) {
            AcknowledgedBatches.rowsInto(ledger, batch, table.getRowType(), table.getSchemaId());
        }
        ledger.judge(logs);
        // Every write has succeeded, so with none there twice (the ledger says) equal counts mean that all are there.
        same(sent, logs.stream().mapToLong(List::size).sum(), "rows in the log of all that were sent");
        OwnSuite.say("%d kills (seed %d) under %d writers: %d rows are there once and in order, %d of them acknowledged with an offset",
                kills, seed, WRITERS, sent, ledger.count());
    }

    /** Waits until each writer has got an acknowledgement since now: only then does the next moment of a kill count. */
    private void everyWriterIsServed(String when) throws Exception {
        long[] before = writers.stream().mapToLong(w -> w.acknowledged.get()).toArray();
        eventually(RECOVERY, "acknowledgements to every writer " + when, () -> writers.stream().anyMatch(w -> w.failure.get() != null)
                || IntStream.range(0, WRITERS).allMatch(i -> writers.get(i).acknowledged.get() > before[i]));
        noFailure();
    }

    private void noFailure() {
        for (Writer w : writers) {
            Throwable failure = w.failure.get();
            that(failure == null, "a write of writer %d failed: %s", w.id, failure);
        }
    }

    /** The rows of every bucket by offset; the offsets have to be dense from 0 to the end. */
    private List<List<Ledger.Row>> readAll(TablePath path) throws Exception {
        List<Integer> ids = IntStream.range(0, BUCKETS).boxed().toList();
        Connection c = ctx.connect();
        Map<Integer, Long> ends = get(c.getAdmin().listOffsets(path, ids, new OffsetSpec.LatestSpec()).all());
        List<List<Ledger.Row>> logs = new ArrayList<>();
        ids.forEach(b -> logs.add(new ArrayList<>()));
        try (Table t = c.getTable(path);
                LogScanner s = t.newScan().createLogScanner()) {
            ids.forEach(s::subscribeFromBeginning);
            long last = System.nanoTime();
            while (ids.stream().anyMatch(b -> logs.get(b).size() < ends.get(b))) {
                that(System.nanoTime() - last < 30_000_000_000L, "no new row for 30 s; read %s of %s", logs.stream().map(List::size).toList(), ends);
                ScanRecords records = s.poll(Duration.ofMillis(500));
                for (TableBucket b : records.buckets()) {
                    List<Ledger.Row> log = logs.get(b.getBucket());
                    for (ScanRecord r : records.records(b)) {
                        same((long) log.size(), r.logOffset(), "next offset of bucket " + b.getBucket());
                        log.add(new Ledger.Row(r.getRow().getInt(0), r.getRow().getLong(1)));
                    }
                    last = System.nanoTime();
                }
            }
        }
        return logs;
    }

    /** A client of its own (so it has a writer id of its own) that appends until told to stop, then waits for every answer. */
    private final class Writer extends Thread {
        final int id;
        final AtomicLong acknowledged = new AtomicLong();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        volatile long sent;
        private final TablePath path;
        private final Semaphore room = new Semaphore(IN_FLIGHT);
        private final FlussConnection conn;

        Writer(int id, TablePath path) {
            super("writer-" + id);
            setDaemon(true);
            this.id = id;
            this.path = path;
            conn = (FlussConnection) ctx.connect("client.writer.batch-timeout", "5ms");
        }

        @Override
        public void run() {
            try {
                TableInfo table = conn.getTable(path).getTableInfo();
                WriterClient client = acknowledgements.writer(conn);
                while (!stop && failure.get() == null) {
                    room.acquire();
                    append(table, client);
                    if (sent % ROWS_PER_PAUSE == 0) {
                        Thread.sleep(PAUSE_MS);
                    }
                }
                client.flush();
                room.acquire(IN_FLIGHT);
                client.close(Duration.ofSeconds(5));
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
            }
        }

        private void append(TableInfo table, WriterClient client) {
            Ledger.Row row = new Ledger.Row(id, sent++);
            var values = Values.row(table.getRowType(), id, row.seq(), "row " + row.seq() + " of writer " + id);
            client.send(WriteRecord.forArrowAppend(table, PhysicalTablePath.of(path), values, null), (bucket, offset, error) -> {
                if (error == null) {
                    acknowledged.incrementAndGet();
                } else {
                    failure.compareAndSet(null, error);
                }
                room.release();
            });
        }
    }
}
