#!/usr/bin/env python3
"""A table, some rows, and two of its columns read back, with the official Python client.

    ./dev setup
    build/release/bin/strom server &
    .venv/bin/python examples/first_steps.py
"""

import asyncio
import os
import sys

import fluss
import pyarrow as pa


async def main():
    conn = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": "127.0.0.1:9123"}))
    admin, path = conn.get_admin(), fluss.TablePath("examples", "measurements")
    await admin.create_database("examples", None, True)
    schema = fluss.Schema(pa.schema([("sensor", pa.string()), ("celsius", pa.float64()), ("note", pa.string())]))
    await admin.create_table(path, fluss.TableDescriptor(schema, bucket_count=1), True)
    table = await conn.get_table(path)

    writer = table.new_append().create_writer()
    for i in range(10):
        writer.append({"sensor": f"s{i % 3}", "celsius": 20 + i / 4, "note": None})
    await writer.flush()  # every row is acknowledged now

    scanner = await table.new_scan().project_by_name(["sensor", "celsius"]).create_log_scanner()
    end = (await admin.list_offsets(path, [0], fluss.OffsetSpec.latest()))[0]
    scanner.subscribe_buckets({0: end - 10})
    read = 0
    while read < 10:
        for record in await scanner.poll(500):
            print(record.offset, record.row)
            read += 1
    await conn.close()


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.flush()
    os._exit(0)  # the client's own threads may abort the interpreter while it winds down
