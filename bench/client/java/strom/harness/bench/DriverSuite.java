package strom.harness.bench;

import strom.harness.Book;
import strom.harness.Suite;

/** Not a check: the official client under the command of {@code bench/run}. */
public final class DriverSuite implements Suite {
    @Override
    public void define(Book book) {
        book.add("bench.driver", "does what standard input says, one command a line", ctx -> new Driver(ctx).run());
    }
}
