#!/usr/bin/env python3
"""Reads a table (id INT, name STRING, amount BIGINT) with the Python client, as batches and as records, and prints its sums."""

import argparse
import asyncio
import os
import sys
import time

import fluss

PATIENCE_S = 30


async def scanned(scanner, poll, expected, buckets):
    """All rows as (id, name, amount)."""
    scanner.subscribe_buckets({bucket: fluss.EARLIEST_OFFSET for bucket in range(buckets)})
    rows, last_news = [], time.monotonic()
    while len(rows) < expected and time.monotonic() - last_news < PATIENCE_S:
        got = await poll(scanner)
        if got:
            rows += got
            last_news = time.monotonic()
    return rows


async def batches(scanner):
    table = await scanner.poll_arrow(500)
    return list(zip(*(table.column(name).to_pylist() for name in ("id", "name", "amount"))))


async def records(scanner):
    return [(r.row["id"], r.row["name"], r.row["amount"]) for r in await scanner.poll(500)]


async def main(a):
    conn = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": a.bootstrap}))
    table = await conn.get_table(fluss.TablePath(*a.table.split(".", 1)))
    buckets = table.get_table_info().num_buckets
    rows = await scanned(await table.new_scan().create_record_batch_log_scanner(), batches, a.rows, buckets)
    again = await scanned(await table.new_scan().create_log_scanner(), records, a.rows, buckets)
    if sorted(rows, key=lambda r: r[0]) != sorted(again, key=lambda r: r[0]):
        print(f"batches gave {len(rows)} rows and records {len(again)}, and they are not the same")
        return 1
    wrong = [r for r in rows if r[1] != f"name {r[0]}"]
    if wrong:
        print(f"{len(wrong)} rows have another row's name, {wrong[0]} among them")
        return 1
    amounts = [r[2] for r in rows if r[2] is not None]
    print(f"rows={len(rows)} ids={sum(r[0] for r in rows)} amounts={sum(amounts)} nulls={len(rows) - len(amounts)}")
    return 0


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--bootstrap", required=True)
    p.add_argument("--table", required=True, help="DATABASE.TABLE")
    p.add_argument("--rows", type=int, required=True)
    code = asyncio.run(main(p.parse_args()))
    sys.stdout.flush()
    # The client's own threads may abort the interpreter while it winds down; the work is done here.
    os._exit(code)
