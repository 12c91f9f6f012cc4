package strom.own;

import static org.apache.fluss.types.DataTypes.*;
import static strom.harness.Check.*;

import org.apache.fluss.metadata.TablePath;
import strom.harness.Ctx;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A 1.0.0 client writes batches with a statistics block to a table that asks for it; the Python client knows only
 * batches without one. It has to read all rows. Options: own.python (the interpreter) and own.python-script (the reader).
 */
final class StatisticsForPython {
    private static final int ROWS = 5000;

    private final Ctx ctx;

    StatisticsForPython(Ctx ctx) {
        this.ctx = ctx;
    }

    void run() throws Exception {
        TablePath path = ctx.create(Ctx.log("id", INT(), "name", STRING(), "amount", BIGINT()).distributedBy(2)
                .property("table.statistics.columns", "id,amount").build());
        List<Object[]> rows = new ArrayList<>();
        long ids = 0;
        long amounts = 0;
        for (int i = 0; i < ROWS; i++) {
            Long amount = i % 7 == 0 ? null : i * 1_000_003L;
            rows.add(Ctx.row(i, "name " + i, amount));
            ids += i;
            amounts += amount == null ? 0 : amount;
        }
        ctx.append(ctx.conn, path, rows);
        same(ROWS, ctx.read(path, ROWS).size(), "rows read by the Java client");
        String said = python(path);
        same(String.format("rows=%d ids=%d amounts=%d nulls=%d", ROWS, ids, amounts, (ROWS + 6) / 7), said, "what the Python client read");
    }

    private String python(TablePath path) throws Exception {
        String script = System.getProperty("own.python-script", "");
        that(!script.isEmpty(), "own.python-script does not name the Python program that reads the table");
        Process p = new ProcessBuilder(System.getProperty("own.python", "python3"), Path.of(script).toString(), "--bootstrap",
                ctx.config().toMap().get("bootstrap.servers"), "--table", path.toString(), "--rows", String.valueOf(ROWS))
                .redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes()).strip();
        that(p.waitFor(60, TimeUnit.SECONDS), "the Python program does not end");
        that(p.exitValue() == 0, "the Python program failed: %s", out);
        return out.substring(out.lastIndexOf('\n') + 1);
    }
}
