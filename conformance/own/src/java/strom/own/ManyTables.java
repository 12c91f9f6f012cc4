package strom.own;

import static org.apache.fluss.types.DataTypes.*;
import static strom.harness.Check.*;
import static strom.harness.Ctx.get;

import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.metadata.TablePath;
import strom.harness.Ctx;

import java.util.List;
import java.util.stream.IntStream;

/** Two hundred log tables of four buckets, one after the other. Creation answers when the buckets serve, so no write has to wait. */
final class ManyTables {
    private static final int BUCKETS = 4;

    private final Ctx ctx;

    ManyTables(Ctx ctx) {
        this.ctx = ctx;
    }

    void run() throws Exception {
        int tables = (int) OwnSuite.option("tables", 200);
        List<TablePath> paths = IntStream.range(0, tables).mapToObj(i -> ctx.path("t" + i)).toList();
        long t0 = System.nanoTime();
        for (TablePath p : paths) {
            get(ctx.admin.createTable(p, Ctx.log("id", INT(), "name", STRING()).distributedBy(BUCKETS).build(), false));
        }
        double seconds = (System.nanoTime() - t0) / 1e9;
        OwnSuite.say("%d tables of %d buckets made in %.2f s", tables, BUCKETS, seconds);
        List<Integer> buckets = IntStream.range(0, BUCKETS).boxed().toList();
        for (TablePath p : paths) {
            ctx.ready(p);
            get(ctx.admin.listOffsets(p, buckets, new OffsetSpec.LatestSpec()).all()).forEach((b, end) -> same(0L, end, "end of bucket " + b));
        }
        that(get(ctx.admin.listTables(ctx.db)).containsAll(paths.stream().map(TablePath::getTableName).toList()), "a table is missing in the list");
        for (int i = 0; i < tables; i += Math.max(1, tables / 10)) {
            ctx.append(paths.get(i), Ctx.row(i, "of table " + i));
            same(List.of("+A[" + i + ", of table " + i + "]"), Ctx.texts(ctx.read(paths.get(i), 1)), "row of table " + i);
        }
        for (TablePath p : paths) {
            get(ctx.admin.dropTable(p, false));
        }
    }
}
