"""./dev test: runs the stages of the project's test, or the short loop of one room."""

import argparse
import sys

import client_stages
import native_stages
import tree
from runner import Runner, Stage


def short_loop(room):
    """The unit tests of one room, or of all."""
    if not room:
        return [Stage("build", native_stages.builds("release"), cores=2), Stage("unit", native_stages.unit, after=("build",))]
    program = f"{room}_test"

    def tests(job):
        return native_stages.run_gtest(job, tree.BUILD / "release" / "bin" / program)

    return [Stage("build", native_stages.builds("release", lambda: [program]), cores=2),
            Stage("unit", tests, after=("build",))]


def all_stages(full):
    native = {s.name: s for s in native_stages.stages(full)}
    client = {s.name: s for s in client_stages.stages()}
    # Long chains start early: clients wait more than they compute, the sanitized build does the opposite.
    order = ["contract", "java-programs", "build", "unit", "asan-build", "conformance-1.0.0", "asan-tests", "fuzz"]
    every = {**native, **client}
    first = [every.pop(name) for name in order]
    return first + list(every.values())


def main():
    p = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    p.add_argument("--unit", action="store_true", help="build, and run all unit tests")
    p.add_argument("--room", help="build and run the tests of this room only")
    p.add_argument("--full", action="store_true", help="TSan, lint, coverage and planted faults, too")
    p.add_argument("--only", help="run these stages only (comma separated), and what they need built")
    p.add_argument("--list", action="store_true", help="print the names of the stages")
    a = p.parse_args()
    if a.room and not any(name.endswith("_test.cc") for name in tree.tracked(f"src/{a.room}/*")):
        p.error(f"src/{a.room} has no tests")
    stages = short_loop(a.room) if a.unit or a.room else all_stages(a.full)
    if a.list:
        for s in stages:
            print(f"{s.name:22}{('after ' + ', '.join(s.after)) if s.after else ''}")
        return 0
    if a.only:
        stages = chosen(stages, a.only.split(","), p)
    return Runner(stages).run()


def chosen(stages, names, parser):
    by_name = {s.name: s for s in stages}
    for name in names:
        if name not in by_name:
            parser.error(f"there is no stage {name}; --list names them")
    keep, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in keep:
            keep.add(name)
            todo += by_name[name].after
    return [s for s in stages if s.name in keep]


if __name__ == "__main__":
    sys.exit(main())
