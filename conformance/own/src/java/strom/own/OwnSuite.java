package strom.own;

import strom.harness.Book;
import strom.harness.Need;
import strom.harness.Suite;

/** Strom's own cases beside those of the harness; each has a class of its own. */
public final class OwnSuite implements Suite {
    @Override
    public void define(Book book) {
        book.add("own.kill-under-load", "kill -9 under idempotent writers: what was acknowledged is there once, in order, at its offset",
                ctx -> new KillUnderLoad(ctx).run()).needs(Need.RESTART);
        book.add("own.statistics-for-python", "a table with statistics in its batches, written by Java, is read by the Python client",
                ctx -> new StatisticsForPython(ctx).run());
        book.add("own.many-tables", "many tables made one after the other serve at once",
                ctx -> new ManyTables(ctx).run());
        book.add("own.restart-with-much-log", "a crash with much log: every bucket serves again and has all its rows",
                ctx -> new RestartWithMuchLog(ctx).run()).needs(Need.RESTART);
    }

    /** A number given as {@code -Down.NAME=...} in HARNESS_JAVA_OPTS. */
    static long option(String name, long fallback) {
        return Long.getLong("own." + name, fallback);
    }

    /** A line that tells what a case measured. */
    static void say(String format, Object... args) {
        System.out.printf("      " + format + "%n", args);
    }
}
