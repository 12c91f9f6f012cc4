"""The stages of ./dev test that build and run our own native programs."""

import os
import shutil
import sys

import cases
import tree
from runner import Broken, Counts, Stage

# A fuzz entry gets this much time for inputs of its own in a run of CI.
FUZZ_SECONDS = 5
SIMULATION_SEEDS = 200

SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def builds(preset, targets=lambda: []):
    """The work of building a preset: everything, or the targets that the function names after the configuration."""

    def work(job):
        env = dict(os.environ, NINJA_STATUS="[%f/%t %es] ")
        job.must([tree.ROOT / "tools/dev/build.sh", preset, "build.ninja"], env=env)
        job.must([tree.ROOT / "tools/dev/build.sh", preset, *targets()], env=env)
        return Counts(passed=1)

    return work


def run_gtest(job, program, env=None):
    """Runs one GoogleTest program by itself and counts its cases; a crash is a failure more."""
    result = tree.LOGS / f"{job.stage.name}-{program.name}.xml"
    result.unlink(missing_ok=True)
    code, _ = job.run([program, "--gtest_brief=1", f"--gtest_output=xml:{result}"], env=env)
    counts = cases.from_junit(result) if result.exists() else Counts()
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def gtests(preset, programs):
    """The work of running GoogleTest programs of a sanitized build, one after the other."""

    def work(job):
        counts = Counts()
        names = programs()
        for name in names:
            counts.add(run_gtest(job, tree.BUILD / preset / "bin" / name, dict(os.environ, **SANITIZER_ENV)))
        if not names:
            raise Broken("there is no test program to run")
        return counts

    return work


def unit(job):
    """All that ctest knows, but the vectors, which are a stage of their own."""
    result = tree.LOGS / "unit.xml"
    result.unlink(missing_ok=True)
    code, _ = job.run(["ctest", "--test-dir", "build/release", "-j2", "--label-exclude", "^vectors$", "--timeout", "300",
                       "--output-on-failure", "--output-junit", result])
    counts = cases.from_junit(result)
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return counts


def vectors(job):
    counts = Counts()
    for name in vector_programs("release"):
        counts.add(run_gtest(job, tree.BUILD / "release" / "bin" / name))
    return counts


def vector_programs(preset):
    return [name for name in tree.built_programs(preset) if "vector" in name and name.endswith("_test")]


def room_tests(preset, rooms):
    return [name for name in (f"{room}_test" for room in rooms) if name in tree.built_programs(preset)]


def asan_programs():
    """What the asan build is for: the tests of the rooms that meet foreign bytes, and the vectors."""
    return room_tests("asan", tree.foreign_rooms()) + vector_programs("asan")


def asan_targets():
    return asan_programs() + tree.fuzz_targets()


def fuzz(job):
    """Each fuzz entry: the kept corpus, then new inputs for a few seconds."""
    counts = Counts()
    for target in tree.fuzz_targets():
        counts.add(Counts(passed=1) if fuzz_one(job, target, FUZZ_SECONDS) else Counts(failed=1))
    return counts


def fuzz_one(job, target, seconds):
    kept = tree.CORPUS / target
    if not kept.is_dir() or not any(kept.iterdir()):
        job.say(f"{target} has no kept corpus in {tree.shown(kept)}")
        return False
    program = tree.BUILD / "asan" / "bin" / target
    found = tree.RUNS / "fuzz" / target
    found.mkdir(parents=True, exist_ok=True)
    common = ["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=0", "-verbosity=0",
              f"-artifact_prefix={found}/crash-"]
    env = dict(os.environ, **SANITIZER_ENV)
    if job.run([program, "-runs=0", *common, kept], env=env)[0] != 0:
        return False
    return job.run([program, f"-max_total_time={seconds}", *common, found, kept], env=env)[0] == 0


def simulation(job):
    """CI's seeds; the simulator ends with the usual line of sums and prints the command that replays a seed."""
    program = tree.BUILD / "release" / "bin" / "strom_sim"
    code, out = job.run([program, "--seeds", SIMULATION_SEEDS])
    counts = cases.from_last_line(out) or Counts(failed=1)
    if code != 0 and counts.failed == 0:
        counts.failed = 1
    return cases.expect(job, counts, SIMULATION_SEEDS)


def contract(job):
    import contract as checks

    counts = Counts()
    for name, faults, notes in checks.all_checks():
        for line in notes:
            job.note(line)
        for line in faults:
            job.say(f"{name}: {line}")
        counts.add(Counts(failed=1) if faults else Counts(passed=1))
    return counts


def lint(job):
    job.must([sys.executable, tree.ROOT / "tools/dev/lint.py", "--all"])
    return Counts(passed=1)


def coverage(job):
    code, out = job.run([sys.executable, tree.ROOT / "tools/dev/coverage.py"])
    return cases.from_last_line(out) or Counts(failed=1)


def faults(job):
    code, out = job.run([tree.ROOT / "sim/faults/run"])
    return cases.from_last_line(out) or Counts(failed=1)


# The rooms with more than one thread at work.
THREADED = ("rt", "rpc", "log", "meta", "replica", "tablet", "coordinator", "server")


def stages(full):
    """The stages, in the order of the table."""
    out = [
        Stage("contract", contract),
        Stage("build", builds("release"), cores=2, limit_s=2400),
        Stage("unit", unit, after=("build",), cores=2),
        Stage("vectors", vectors, after=("build",)),
    ]
    if (tree.ROOT / "sim" / "CMakeLists.txt").exists():
        out.append(Stage("simulation", simulation, after=("build",)))
    out += [
        Stage("asan-build", builds("asan", asan_targets), after=("build",), limit_s=2400),
        Stage("asan-tests", gtests("asan", asan_programs), after=("asan-build",)),
        Stage("fuzz", fuzz, after=("asan-build",)),
    ]
    if full:
        tsan = lambda: room_tests("tsan", THREADED)
        out += [
            Stage("tsan-build", builds("tsan", tsan), after=("build",), cores=2, limit_s=3600),
            Stage("tsan-tests", gtests("tsan", tsan), after=("tsan-build",), limit_s=3600),
            Stage("lint", lint, after=("build",), cores=2, limit_s=7200),
            Stage("coverage", coverage, after=("asan-build",), cores=2, limit_s=3600),
        ]
        if (tree.ROOT / "sim" / "faults" / "run").exists():
            out.append(Stage("faults", faults, after=("simulation",), cores=2, limit_s=7200))
    return out
