"""Where things are in this tree, and the small questions that several of the scripts here ask about it."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
RUNS = BUILD / "test-run"  # data of the servers that tests start
CORPUS = ROOT / "testdata" / "corpus"
PYTHON = ROOT / ".venv" / "bin" / "python"


def shown(path):
    """The path as a person at the root of the tree would type it."""
    path = pathlib.Path(path)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def tracked(*patterns):
    """The files of the tree that git knows or would add, as relative paths."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", "--", *patterns], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    return sorted(name for name in set(out.split("\0")) if name and (ROOT / name).is_file())


def foreign_rooms():
    """The rooms that meet foreign bytes: those with a fuzz entry."""
    return sorted({pathlib.Path(name).parts[1] for name in tracked("src/*_fuzz.cc")})


def built_programs(preset):
    """The programs that the build of the preset knows, by name: what ninja would put into its bin folder."""
    out = subprocess.run(["ninja", "-C", str(BUILD / preset), "-t", "targets", "all"], check=True, capture_output=True,
                         text=True).stdout
    return sorted(line.split(":")[0][4:] for line in out.splitlines() if line.startswith("bin/"))


def fuzz_targets():
    """The fuzz entries, as the configuration of the asan build wrote them down."""
    return (BUILD / "asan" / "fuzz_targets.txt").read_text().split()


def java_env(**more):
    """The environment for Java programs: the JDK that ./dev setup installs, whatever else the machine has."""
    env = dict(os.environ, **more)
    homes = sorted(pathlib.Path("/usr/lib/jvm").glob("java-17-openjdk-*"))
    if homes:
        env["JAVA_HOME"] = str(homes[0])
    return env
