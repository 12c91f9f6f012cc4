"""The stages of ./dev test that drive the real server with the official clients."""

import shutil
import time

import cases
import tree
from runner import Broken, Counts, Stage

OWN = tree.ROOT / "conformance" / "own"
HARNESS = tree.ROOT / "conformance" / "harness" / "run"
BUG_CASES = tree.ROOT / "conformance" / "bug-cases" / "run"
SERVER = OWN / "strom-server"

# What a server with log tables has to pass; cases of primary keys, remote log and security come with those.
SKIPPED_CASES = r"^(pk|lookup|merge|tiered|secure)\.|\.pk|^table\.snapshots-none$|^cluster\.producer-offsets$"
EXPECTED = {"1.0.0": 68, "0.9.1-incubating": 67}
BUG_CASES_CHOSEN, BUG_CASES_EXPECTED = r"^B(2|3|4|5|7|11|12|18)\.", 8
PYFLUSS_SKIPPED, PYFLUSS_EXPECTED = "upsert|partial|lookup", 6
OWN_EXPECTED = 4
DAMAGED_EXPECTED = 100
# The log of the restart program in CI; by hand it takes what is asked for (conformance/own/README.md).
OWN_OPTIONS = "-Xmx2g -Down.log-mb=1024 -Down.kills=20"


def own_env(**more):
    """The environment of the harness with our own programs beside its suites."""
    options = f"{OWN_OPTIONS} -Down.python={tree.PYTHON} -Down.python-script={OWN / 'read_statistics.py'}"
    return tree.java_env(HARNESS_EXTRA_SRC=str(OWN / "src"), HARNESS_JAVA_OPTS=options, **more)


def start(job, *options):
    """Starts a server of the stage's own and sees to its end; returns (folder, bootstrap address)."""
    folder = tree.RUNS / job.stage.name
    shutil.rmtree(folder, ignore_errors=True)
    job.cleanups.append(lambda: finish(job, folder))
    job.must([SERVER, "start", "--dir", folder, *options])
    return folder, job.must([SERVER, "bootstrap", "--dir", folder]).strip()


def finish(job, folder):
    """Ends the server, keeps what it printed with the logs, and drops its data."""
    job.stopped, job.deadline = False, time.monotonic() + 60
    job.run([SERVER, "kill", "--dir", folder])
    printed = folder / "log" / "server.log"
    if printed.exists():
        shutil.copy(printed, tree.LOGS / f"{job.stage.name}-server.log")
    shutil.rmtree(folder, ignore_errors=True)


def sums(job, command, expected, **options):
    """Runs a program that ends with "N passed, N failed" and counts its cases."""
    code, out = job.run(command, **options)
    counts = cases.from_last_line(out)
    if counts is None:
        raise Broken(f"exit code {code}, and no line of sums at the end")
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    # Cases that our choice of them leaves out are not "skipped": the harness counts only what lacks something.
    return cases.expect(job, counts, expected)


def java_programs(job):
    """Builds each Java program once, before stages that share it run side by side."""
    for client in EXPECTED:
        env = own_env(FLUSS_CLIENT_VERSION=client) if client == "1.0.0" else tree.java_env(FLUSS_CLIENT_VERSION=client)
        job.must([HARNESS, "help"], env=env)
    code, _ = job.run([BUG_CASES, "--list"], env=tree.java_env())
    if code != 0:
        raise Broken("the bug cases cannot be built")
    return Counts(passed=1)


def conformance(client):
    def work(job):
        folder, address = start(job, "--fast")
        return sums(job, [HARNESS, "conformance", "--bootstrap", address, "--fast", "--level", "1.0", "--durable",
                          "--restart-cmd", f"'{SERVER}' crash --dir '{folder}'", "--skip", SKIPPED_CASES,
                          "--report", tree.LOGS / f"{job.stage.name}.xml"],
                    EXPECTED[client], env=tree.java_env(FLUSS_CLIENT_VERSION=client))

    return work


def bug_cases(job):
    folder, address = start(job, "--fast")
    return sums(job, [BUG_CASES, "--bootstrap", address, "--only", BUG_CASES_CHOSEN, "--fast", "--server-cmd",
                      f"'{OWN / 'ops-strom'}' '{folder}'", "--data-dir", folder / "data"],
                BUG_CASES_EXPECTED, env=tree.java_env())


def pyfluss(job):
    _, address = start(job, "--fast")
    return sums(job, [tree.PYTHON, tree.ROOT / "conformance" / "pyfluss_smoke.py", "--bootstrap", address, "--skip",
                      PYFLUSS_SKIPPED], PYFLUSS_EXPECTED)


def own(job):
    folder, address = start(job)
    return sums(job, [HARNESS, "conformance", "--bootstrap", address, "--only", r"^own\.", "--timeout", "600",
                      "--restart-cmd", f"'{SERVER}' crash --dir '{folder}'"], OWN_EXPECTED, env=own_env())


def damaged_files(job):
    """The real server on data directories of which one file is cut or flipped at a seeded place."""
    folder = tree.RUNS / job.stage.name
    shutil.rmtree(folder, ignore_errors=True)
    return sums(job, [tree.PYTHON, OWN / "damaged_files.py", "--cases", DAMAGED_EXPECTED, "--dir", folder], DAMAGED_EXPECTED)


def quickstart(job):
    """What the README's first command does, as a user runs it, and no more."""
    folder = tree.RUNS / job.stage.name
    shutil.rmtree(folder, ignore_errors=True)
    job.must([tree.ROOT / "tools/dev/quickstart.sh", "--once", "--port", "0", "--data-dir", folder])
    shutil.rmtree(folder, ignore_errors=True)
    return Counts(passed=1)


def stages():
    ready = ("build", "java-programs")
    return [
        Stage("java-programs", java_programs, cores=0),
        Stage("quickstart", quickstart, after=("build",)),
        Stage("pyfluss", pyfluss, after=("build",)),
        Stage("damaged-files", damaged_files, after=("build",)),
        Stage("conformance-1.0.0", conformance("1.0.0"), after=ready),
        Stage("conformance-0.9.1", conformance("0.9.1-incubating"), after=ready),
        Stage("bug-cases", bug_cases, after=ready),
        Stage("own-programs", own, after=ready),
    ]
