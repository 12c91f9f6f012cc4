package strom.own;

import strom.harness.Check;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the server has acknowledged, and the judgement over what it holds in the end. */
final class Ledger {
    /** A row by who wrote it and as which in turn. */
    record Row(int writer, long seq) {}

    private record Place(int bucket, long offset) {}

    private final Map<Place, Row> acknowledged = new HashMap<>();

    /** Notes where the server said that a row is. */
    void acknowledge(int bucket, long offset, Row row) {
        Row other = acknowledged.put(new Place(bucket, offset), row);
        Check.that(other == null || other.equals(row), "bucket %d offset %d was acknowledged for %s and for %s", bucket, offset, other, row);
    }

    int count() {
        return acknowledged.size();
    }

    /** Demands of each bucket's rows, by offset from 0: every acknowledged row at its place, none twice, each writer's in its order. */
    void judge(List<List<Row>> buckets) {
        acknowledged.forEach((place, row) -> {
            List<Row> log = buckets.get(place.bucket);
            Check.that(place.offset < log.size(), "%s was acknowledged at bucket %d offset %d, but the log ends at %d", row, place.bucket, place.offset, log.size());
            Check.same(row, log.get((int) place.offset), "acknowledged row at bucket " + place.bucket + " offset " + place.offset);
        });
        Map<Row, Place> seen = new HashMap<>();
        for (int b = 0; b < buckets.size(); b++) {
            Map<Integer, Long> last = new HashMap<>();
            for (int offset = 0; offset < buckets.get(b).size(); offset++) {
                Row row = buckets.get(b).get(offset);
                Place here = new Place(b, offset);
                Place other = seen.put(row, here);
                Check.that(other == null, "%s is at %s and at %s", row, other, here);
                Long before = last.put(row.writer, row.seq);
                Check.that(before == null || before < row.seq, "%s at %s comes after row %d of the same writer", row, here, before);
            }
        }
    }
}
