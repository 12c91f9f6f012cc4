"""Runs stages side by side where they may, logs each, prints a table of them and the line that sums up."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

import tree

CORES = 2  # what a machine has to offer at least; a stage says how many of them it keeps busy


@dataclasses.dataclass
class Counts:
    """How many cases of a stage went which way."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


@dataclasses.dataclass
class Stage:
    """One step of ./dev test. `work(job)` runs its programs and returns Counts; `after` names stages that must have passed."""
    name: str
    work: object
    after: tuple = ()
    cores: int = 1
    limit_s: int = 2700
    counts: Counts = None
    state: str = "waits"
    start_s: float = 0
    seconds: float = 0


class Broken(Exception):
    """A stage cannot go on; the text says why."""


class Job:
    """What a running stage works with: its log, its programs, its deadline."""

    def __init__(self, stage):
        self.stage = stage
        self.path = tree.LOGS / f"{stage.name}.log"
        self.log = open(self.path, "w", buffering=1)
        self.deadline = time.monotonic() + stage.limit_s
        self.notes = []
        self.cleanups = []
        self.live = set()
        self.stopped = False

    def say(self, text):
        """A line for the log."""
        print(text, file=self.log)

    def note(self, text):
        """A line for the log and for whoever watches."""
        self.say(text)
        self.notes.append(text)

    def run(self, command, **options):
        """Runs a program, its output into the log; returns (exit code, output)."""
        command = [str(word) for word in command]
        self.say("$ " + " ".join(command))
        left = self.deadline - time.monotonic()
        if self.stopped or left <= 0:
            raise Broken("stopped" if self.stopped else f"no end after {self.stage.limit_s} s")
        process = subprocess.Popen(command, cwd=options.pop("cwd", tree.ROOT), stdin=subprocess.DEVNULL, text=True,
                                   errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True, **options)
        self.live.add(process)
        timer = threading.Timer(left, end_group, [process])
        timer.start()
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                self.log.write(line)
            code = process.wait()
        finally:
            timer.cancel()
            self.live.discard(process)
        if time.monotonic() >= self.deadline:
            raise Broken(f"no end after {self.stage.limit_s} s")
        self.say(f"(exit code {code})")
        return code, "".join(lines)

    def must(self, command, **options):
        """Runs a program that has to succeed; returns its output."""
        code, out = self.run(command, **options)
        if code != 0:
            raise Broken(f"exit code {code} of {command[0]}")
        return out

    def stop(self):
        self.stopped = True
        for process in list(self.live):
            end_group(process)

    def close(self):
        for clean in reversed(self.cleanups):
            try:
                clean()
            except Exception:  # the verdict is there already; the log says what went wrong
                self.say(traceback.format_exc())
        self.log.close()


def end_group(process):
    """Ends a program and all that it started in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Runner:
    """Runs a list of stages."""

    def __init__(self, stages):
        self.stages = stages
        self.by_name = {s.name: s for s in stages}
        self.free = CORES
        self.changed = threading.Condition()
        self.jobs = {}
        self.t0 = time.monotonic()
        self.interrupted = False

    def run(self):
        """Runs all; returns the exit code."""
        tree.LOGS.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(tree.RUNS, ignore_errors=True)
        signal.signal(signal.SIGTERM, lambda *_: self.interrupt())
        signal.signal(signal.SIGINT, lambda *_: self.interrupt())
        threads = []
        with self.changed:
            while any(s.state in ("waits", "runs") for s in self.stages):
                for stage in self.stages:
                    self.consider(stage, threads)
                if any(s.state in ("waits", "runs") for s in self.stages):
                    self.changed.wait(0.5)
        for thread in threads:
            thread.join()
        return self.report()

    def consider(self, stage, threads):
        """Starts a waiting stage when what it needs has passed and cores are free."""
        if stage.state != "waits":
            return
        needs = [self.by_name[name] for name in stage.after if name in self.by_name]
        lost = [s.name for s in needs if s.state in ("FAILED", "left out")]
        if lost or self.interrupted:
            stage.state, stage.counts = "left out", Counts(skipped=1)
            print(f"left out  {stage.name}: " + (f"{lost[0]} failed" if lost else "interrupted"), flush=True)
            return
        if any(s.state != "passed" for s in needs) or stage.cores > self.free:
            return
        self.free -= stage.cores
        stage.state, stage.start_s = "runs", time.monotonic() - self.t0
        job = self.jobs[stage.name] = Job(stage)
        thread = threading.Thread(target=self.work, args=(stage, job))
        thread.start()
        threads.append(thread)

    def work(self, stage, job):
        reason = ""
        try:
            counts = stage.work(job)
        except Broken as e:
            counts, reason = Counts(failed=1), str(e)
        except Exception:  # a fault of ours is a failed stage, not a silent end
            counts, reason = Counts(failed=1), traceback.format_exc()
        if reason:
            job.say(reason)
        if counts.failed == 0 and counts.passed == 0 and counts.skipped == 0:
            counts, reason = Counts(failed=1), "no case was run"
            job.say(reason)
        job.close()
        with self.changed:
            stage.seconds = time.monotonic() - self.t0 - stage.start_s
            stage.counts = counts
            self.announce(stage, job, reason)
            stage.state = "FAILED" if counts.failed else "passed"
            self.free += stage.cores
            self.changed.notify_all()

    @staticmethod
    def announce(stage, job, reason):
        for note in job.notes:
            print(f"note      {stage.name}: {note}", flush=True)
        c = stage.counts
        if not c.failed:
            print(f"passed    {stage.name:20} {c.passed:5} cases {stage.seconds:7.1f} s", flush=True)
            return
        print(f"FAILED    {stage.name:20} {c.failed:5} cases {stage.seconds:7.1f} s  {reason.splitlines()[-1] if reason else ''}")
        print(f"--- the last lines of {tree.shown(job.path)}")
        with open(job.path, errors="replace") as log:
            print("".join(log.readlines()[-40:]), end="")
        print("---", flush=True)

    def interrupt(self):
        self.interrupted = True
        for job in list(self.jobs.values()):
            job.stop()

    def report(self):
        total = Counts()
        print(f"\n{'stage':22}{'state':10}{'from':>7}{'time':>9}{'passed':>8}{'failed':>8}{'skipped':>9}")
        for s in self.stages:
            total.add(s.counts)
            print(f"{s.name:22}{s.state:10}{s.start_s:6.0f}s{s.seconds:8.1f}s{s.counts.passed:8}{s.counts.failed:8}"
                  f"{s.counts.skipped:9}")
        print(f"{'all':32}{'':7}{time.monotonic() - self.t0:8.1f}s; logs in {tree.shown(tree.LOGS)}/\n")
        print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
        sys.stdout.flush()
        return 1 if total.failed or total.passed == 0 or self.interrupted else 0
