package strom.own;

import static org.apache.fluss.types.DataTypes.*;
import static strom.harness.Check.*;
import static strom.harness.Ctx.get;

import org.apache.fluss.client.Connection;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.types.RowType;
import strom.harness.Ctx;
import strom.harness.Rec;
import strom.harness.Values;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** A crash with a gigabyte of log (own.log-mb): the server is back, and every bucket has its rows. The times are printed. */
final class RestartWithMuchLog {
    private static final int BUCKETS = 4;
    private static final int TEXT_CHARS = 1000;
    private static final long TAIL_ROWS = 200;

    private final Ctx ctx;

    RestartWithMuchLog(Ctx ctx) {
        this.ctx = ctx;
    }

    void run() throws Exception {
        long rows = OwnSuite.option("log-mb", 1024) * 1_000_000 / TEXT_CHARS;
        TablePath path = ctx.create(Ctx.log("id", BIGINT(), "text", STRING()).distributedBy(BUCKETS)
                .property("table.log.arrow.compression.type", "NONE").build());
        long t0 = System.nanoTime();
        write(path, rows);
        double writing = seconds(t0);
        Map<Integer, Long> before = ends(ctx.conn, path);
        same(rows, before.values().stream().mapToLong(Long::longValue).sum(), "rows in all buckets");
        // The Java server promises only what has settled for some seconds.
        Thread.sleep(OwnSuite.option("settle-ms", 0));

        t0 = System.nanoTime();
        ctx.restartServer();
        Connection c = ctx.connect();
        eventually(Duration.ofSeconds(120), "every bucket is served with all its rows", () -> before.equals(ends(c, path)));
        double restart = seconds(t0);
        tails(c, path, before);
        ctx.append(c, path, List.<Object[]>of(Ctx.row(rows, "after the crash")));
        same(rows + 1, ends(c, path).values().stream().mapToLong(Long::longValue).sum(), "rows after one more");
        OwnSuite.say("%d MB of log: written in %.1f s; kill -9, start and every bucket's end offset in %.2f s", rows * TEXT_CHARS / 1_000_000, writing, restart);
    }

    private void write(TablePath path, long rows) throws Exception {
        char[] letters = new char[2 * TEXT_CHARS];
        Random random = new Random(1);
        for (int i = 0; i < letters.length; i++) {
            letters[i] = (char) ('a' + random.nextInt(26));
        }
        String text = new String(letters);
        try (Table t = ctx.conn.getTable(path)) {
            AppendWriter w = t.newAppend().createWriter();
            RowType type = t.getTableInfo().getRowType();
            Throwable[] failed = new Throwable[1];
            for (long i = 0; i < rows && failed[0] == null; i++) {
                int at = (int) (i % TEXT_CHARS);
                w.append(Values.row(type, i, text.substring(at, at + TEXT_CHARS))).whenComplete((ok, e) -> failed[0] = e == null ? failed[0] : e);
            }
            w.flush();
            that(failed[0] == null, "a write failed: %s", failed[0]);
        }
    }

    /** The last rows of each bucket, read at their offsets. */
    private void tails(Connection c, TablePath path, Map<Integer, Long> ends) throws Exception {
        try (Table t = c.getTable(path);
                LogScanner s = t.newScan().createLogScanner()) {
            int expected = 0;
            for (int b = 0; b < BUCKETS; b++) {
                long from = Math.max(0, ends.get(b) - TAIL_ROWS);
                s.subscribe(b, from);
                expected += (int) (ends.get(b) - from);
            }
            List<Rec> tail = new ArrayList<>(ctx.poll(s, t.getTableInfo().getRowType(), expected));
            tail.forEach(r -> same(TEXT_CHARS, ((String) r.values().get(1)).length(), "length of the text at bucket " + r.bucket() + " offset " + r.offset()));
        }
    }

    private static Map<Integer, Long> ends(Connection c, TablePath path) throws Exception {
        return get(c.getAdmin().listOffsets(path, IntStream.range(0, BUCKETS).boxed().toList(), new OffsetSpec.LatestSpec()).all());
    }

    private static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }
}
