package strom.harness.bench;

import org.apache.fluss.client.Connection;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.scanner.log.ScanRecords;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.GenericRow;
import strom.harness.Ctx;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * The workloads of {@link Bench} in small steps, so that whoever commands it can read the server's CPU before and after each: a command
 * is a line of standard input, and its end is a line "@ SECONDS", or "! WHY".
 *
 * <pre>
 *   table NAME ROW_BYTES BUCKETS [plain]   make a log table (ROW_BYTES 0: the wide one of 20 columns; plain: without compression)
 *   append NAME ROWS [full]                append rows and flush; full: a batch goes out when it is full, not when it has waited,
 *                                          so that the batches do not depend on how fast the server answers
 *   scan NAME ROWS COLUMNS                 read ROWS rows from the beginning, the first COLUMNS columns (0: all)
 *   tables PREFIX COUNT BUCKETS            make tables one after the other
 *   drop NAME
 *   end
 * </pre>
 */
final class Driver {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long GIVE_UP_NANOS = 60_000_000_000L;

    private final Ctx ctx;
    private final Map<String, Integer> rowBytes = new HashMap<>();
    private final Map<Integer, Rows.Event> events = new HashMap<>();

    Driver(Ctx ctx) {
        this.ctx = ctx;
    }

    void run() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
            long start = System.nanoTime();
            String answer;
            try {
                command(line.trim().split(" +"));
                answer = "@ " + (System.nanoTime() - start) / 1e9;
            } catch (Exception e) {
                answer = "! " + e.toString().replace('\n', ' ');
            }
            System.out.println(answer);
            System.out.flush();
        }
    }

    private void command(String[] w) throws Exception {
        switch (w[0]) {
            case "table" -> make(w[1], Integer.parseInt(w[2]), Integer.parseInt(w[3]), w.length > 4);
            case "append" -> append(w[1], Long.parseLong(w[2]), w.length > 3);
            case "scan" -> scan(w[1], Long.parseLong(w[2]), Integer.parseInt(w[3]));
            case "tables" -> {
                for (int i = 0; i < Integer.parseInt(w[2]); i++) {
                    Ctx.get(ctx.admin.createTable(path(w[1] + i), log(100, Integer.parseInt(w[3]), false), false));
                }
            }
            case "drop" -> Ctx.get(ctx.admin.dropTable(path(w[1]), false));
            default -> throw new IllegalArgumentException("no command " + w[0]);
        }
    }

    private TablePath path(String name) {
        return TablePath.of("bench", name);
    }

    private static TableDescriptor log(int bytes, int buckets, boolean plain) {
        Schema schema = (bytes == 0 ? Rows.Wide.schema() : Rows.Event.schema()).build();
        TableDescriptor.Builder d = TableDescriptor.builder().schema(schema).distributedBy(buckets).property("table.log.format", "arrow");
        return (plain ? d.property("table.log.arrow.compression.type", "none") : d).build();
    }

    private void make(String name, int bytes, int buckets, boolean plain) throws Exception {
        Ctx.get(ctx.admin.createDatabase("bench", org.apache.fluss.metadata.DatabaseDescriptor.EMPTY, true));
        Ctx.get(ctx.admin.createTable(path(name), log(bytes, buckets, plain), false));
        rowBytes.put(name, bytes);
        ctx.ready(path(name));
    }

    private void append(String name, long rows, boolean full) throws Exception {
        int bytes = rowBytes.get(name);
        Rows.Wide wide = bytes == 0 ? new Rows.Wide() : null;
        Rows.Event event = bytes == 0 ? null : events.computeIfAbsent(bytes, Rows.Event::new);
        AtomicReference<Throwable> failed = new AtomicReference<>();
        Connection c = full ? ctx.connect("client.writer.batch-timeout", "60s", "client.writer.dynamic-batch-size.enabled", "false") : ctx.connect();
        try (Table t = c.getTable(path(name))) {
            AppendWriter w = t.newAppend().createWriter();
            for (long i = 0; i < rows; i++) {
                GenericRow row = wide != null ? wide.row(i) : event.row(i, i);
                w.append(row).whenComplete((ok, e) -> failed.compareAndSet(null, e));
            }
            w.flush();
        }
        c.close();
        if (failed.get() != null) {
            throw new IllegalStateException("an append failed", failed.get());
        }
    }

    private void scan(String name, long rows, int columns) throws Exception {
        try (Table t = ctx.conn.getTable(path(name));
                LogScanner s = columns == 0 ? t.newScan().createLogScanner() : t.newScan().project(IntStream.range(0, columns).toArray()).createLogScanner()) {
            for (int b = 0; b < t.getTableInfo().getNumBuckets(); b++) {
                s.subscribeFromBeginning(b);
            }
            long seen = 0;
            long sum = 0;
            for (long last = System.nanoTime(); seen < rows; ) {
                ScanRecords batch = s.poll(POLL);
                for (ScanRecord r : batch) {
                    sum += r.getRow().getLong(0);
                    seen++;
                }
                if (!batch.isEmpty()) {
                    last = System.nanoTime();
                } else if (System.nanoTime() - last > GIVE_UP_NANOS) {
                    throw new IllegalStateException("only " + seen + " of " + rows + " rows came");
                }
            }
            if (columns == 0 && seen == rows && rowBytes.get(name) != 0 && sum != rows * (rows - 1) / 2) {
                throw new IllegalStateException("the ids of the rows read do not add up: " + sum);
            }
        }
    }
}
