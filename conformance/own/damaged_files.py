#!/usr/bin/env python3
"""Damages one file of a data directory, by a cut or by a flipped bit at a seeded place, starts the real server on it and reads everything back; again and
again. A bucket must come back or be refused with its file named, no wrong row may be served, other buckets must serve all that they had, and damaged
metadata must stop the start with a sentence. Ends with "N passed, N failed, N skipped".

usage: damaged_files.py [--binary build/release/bin/strom] [--load build/release/bin/strom_bench_load] [--cases 100] [--seed 1] [--dir DIR] [--keep]
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import wire

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = {"many": ["--rows", "6000", "--batch-rows", "40", "--buckets", "2"],
          "plain": ["--rows", "3000", "--batch-rows", "100", "--buckets", "2", "--uncompressed"],
          "small": ["--rows", "600", "--batch-rows", "3", "--buckets", "1", "--producers", "2"]}
# What a killed server took after its last recovery point.
LATER_TABLES = {"later": ["--rows", "400", "--batch-rows", "10", "--buckets", "2"]}
OPTIONS = ["log.segment.file-size=64kb", "log.flush.offset.checkpoint-interval=1s"]
START_SECONDS = 20


class Server:
    def __init__(self, binary, data, log):
        ready = data.parent / "ready"
        ready.unlink(missing_ok=True)
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                [binary, "server", "--data-dir", data, "--listen", "127.0.0.1:0", "--ready-file", ready,
                 *(word for option in OPTIONS for word in ("-D", option))], stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self.address = None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if ready.exists() and ready.read_text().strip():
                words = ready.read_text().split()
                self.address = words[words.index("bootstrap") + 1]
                break
            time.sleep(0.005)

    def said(self):
        return self.log.read_text(errors="replace")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)

    def read_all(self, tables):
        """{(table, bucket): batches, or the Refused that its fetch got}"""
        host, port = self.address.rsplit(":", 1)
        coordinator = wire.Connection(host, int(port))
        tablet = wire.Connection(*coordinator.tablet_server())
        found = {}
        for name in tables:
            table, buckets = coordinator.table("bench", name)
            for bucket in range(buckets):
                try:
                    found[name, bucket] = tablet.batches(table, bucket)[0]
                except wire.Refused as refused:
                    found[name, bucket] = refused
        coordinator.close()
        tablet.close()
        return found


def write_tables(load, address, pid, tables):
    for name, options in tables.items():
        subprocess.run([load, "append", "--bootstrap", address, "--table", name, "--server-pids", str(pid), *options], check=True,
                       stdout=subprocess.DEVNULL)


def tables_of(what):
    return [*TABLES, *(LATER_TABLES if what == "killed" else ())]


def make_directories(binary, load, folder):
    """[(what, directory, its batches)]: one that was stopped, and one whose server was killed."""
    made = []
    for what in ("stopped", "killed"):
        data = folder / what / "data"
        data.parent.mkdir(parents=True)
        server = Server(binary, data, folder / f"{what}.log")
        if server.address is None:
            raise SystemExit(f"the server does not start: {server.said()}")
        write_tables(load, server.address, server.process.pid, TABLES)
        if what == "killed":
            time.sleep(1.5)  # a recovery point is written; what comes then lies above it
            write_tables(load, server.address, server.process.pid, LATER_TABLES)
        known = server.read_all(tables_of(what))
        if what == "killed":
            server.kill()
        elif server.stop() != 0:
            raise SystemExit(f"the server did not stop cleanly: {server.said()}")
        if any(isinstance(batches, Exception) or not batches for batches in known.values()):
            raise SystemExit(f"the tables could not be read: {known}")
        made.append((what, data, known))
    return made


def files_by_kind(data):
    """Files that hold something, grouped so that each kind is drawn as often as any other."""
    kinds = {}
    for path in sorted(data.rglob("*")):
        name = path.relative_to(data)
        # RocksDB's own log of what it did is for people only.
        if not path.is_file() or path.stat().st_size == 0 or path.name.startswith("LOG") or path.name == "LOCK":
            continue
        kind = name.parts[0] if name.parts[0] != "tablet" else path.suffix or path.name
        kinds.setdefault(kind, []).append(name)
    return kinds


def damage(path, rng):
    content = bytearray(path.read_bytes())
    place = rng.randrange(len(content))
    if rng.random() < 0.5:
        path.write_bytes(content[:place])
        return f"cut at {place} of {len(content)}"
    bit = rng.randrange(8)
    content[place] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {place} of {len(content)} flipped"


def check_bucket(bucket, found, known, touched, file):
    """What is wrong with what a bucket serves, or nothing."""
    if isinstance(found, wire.Refused):
        if not touched:
            return f"{bucket} is refused, and its files are whole: {found}"
        return None if file.name in found.message else f"{bucket} is refused without naming {file.name}: {found}"
    if not touched or file.suffix != ".log":
        # What lies beside a log helps to find things in it, and must not change what is in it.
        return None if found == known else f"{bucket} serves {len(found)} batches that are not the {len(known)} it had"
    for i, batch in enumerate(found):
        if i < len(known) and wire.without_stamp(batch) == wire.without_stamp(known[i]):
            continue
        if wire.crc_holds(batch):
            return f"{bucket} serves a wrong batch {i} whose CRC holds"
    if len(found) < len(known) and bucket.split()[0] not in LATER_TABLES:
        return f"{bucket} serves {len(found)} of {len(known)} batches, and all were committed and flushed"
    return None


def check_start(server, file):
    """Whether a start that was refused may be, and says why."""
    if file.parts[0] == "tablet":
        return f"the start is refused for {file}: {server.said()[-300:]}"
    if server.process.poll() is None:
        return f"the server is not ready after {START_SECONDS} s: {server.said()[-300:]}"
    if server.process.returncode < 0:
        return f"the server died of signal {-server.process.returncode}: {server.said()[-300:]}"
    said = server.said()
    return None if file.parts[0] in said else f"the start is refused and does not name {file.parts[0]}: {said[-300:]}"


def run_case(binary, folder, case, rng, made):
    """(what was done, what is wrong or nothing)"""
    what, source, known = made[case % len(made)]
    data = folder / "case" / "data"
    shutil.rmtree(data.parent, ignore_errors=True)
    shutil.copytree(source, data)
    kinds = files_by_kind(data)
    kind = rng.choice(sorted(kinds))
    file = rng.choice(kinds[kind])
    done = f"{what}: {file}: {damage(data / file, rng)}"
    server = Server(binary, data, folder / "case.log")
    try:
        if server.address is None:
            return done, check_start(server, file)
        found = server.read_all(tables_of(what))
    except (wire.Refused, OSError, KeyError, IndexError) as error:
        return done, f"the server does not answer: {error!r}: {server.said()[-300:]}"
    finally:
        server.kill()
    for (table, bucket), batches in known.items():
        touched = file.parts[0] != "tablet" or (f"{table}-" in str(file) and file.parent.name == f"log-{bucket}") or len(file.parts) == 2
        wrong = check_bucket(f"{table} bucket {bucket}", found.get((table, bucket)), batches, touched, file)
        if wrong:
            return done, wrong
    return done, None


def main(a):
    folder = pathlib.Path(a.dir or tempfile.mkdtemp(prefix="strom-damage-"))
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    try:
        made = make_directories(a.binary, a.load, folder)
        for case in range(a.cases):
            if a.only is not None and case != a.only:
                continue
            done, wrong = run_case(a.binary, folder, case, random.Random(f"{a.seed}/{case}"), made)
            failed += wrong is not None
            if wrong or a.verbose:
                print(f"case {case} of seed {a.seed}: {done}: {wrong or 'fine'}", flush=True)
    finally:
        if not a.keep:
            shutil.rmtree(folder, ignore_errors=True)
    ran = 1 if a.only is not None else a.cases
    print(f"{ran - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", default=ROOT / "build/release/bin/strom", help="the server")
    p.add_argument("--load", default=ROOT / "build/release/bin/strom_bench_load", help="the load generator that writes the tables")
    p.add_argument("--cases", type=int, default=100)
    p.add_argument("--seed", default="1")
    p.add_argument("--only", type=int, help="one case")
    p.add_argument("--dir", help="where to work; a temporary folder by default")
    p.add_argument("--keep", action="store_true", help="leave the folder")
    p.add_argument("--verbose", action="store_true")
    sys.exit(main(p.parse_args()))
