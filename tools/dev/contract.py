"""What must hold for the tree itself: the copied files are as they were copied, rooms look upwards only, nothing in
the tree knows the machine it was written on. Each check yields (name, faults, notes)."""

import hashlib
import re
import subprocess

import tree

LIST = tree.ROOT / "conformance" / "COPIED.sha256"
# Where the copies came from, for the note that says when the originals went on.
ORIGINALS = {"docs/spec/": "spec/", "testdata/vectors/": "spec/vectors/", "conformance/": "peer/"}
MACHINE_PATHS = r"/(wo[r]k|roo[t]|hom[e]/[a-z0-9_]+)/"
UNFINISHED = r"\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copied_list():
    """Path to hash of every copied file."""
    rows = (line.split("  ", 1) for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return {name: sha for sha, name in rows}


def copies():
    """The contract, the vectors and our Java programs are byte-equal to what was copied."""
    faults, notes, differ = [], [], []
    shared = tree.ROOT.parent / "shared"
    for name, sha in copied_list().items():
        path = tree.ROOT / name
        if not path.is_file():
            faults.append(f"{name} is missing")
        elif digest(path) != sha:
            faults.append(f"{name} is not what was copied; put changes beside it, in conformance/own")
        prefix = next(p for p in ORIGINALS if name.startswith(p))
        original = shared / (ORIGINALS[prefix] + name[len(prefix):])
        if shared.is_dir() and (not original.is_file() or digest(original) != sha):
            differ.append(name)
    if differ:
        notes.append(f"../shared has other versions of {len(differ)} copied files, {differ[0]} among them")
    return "copies", faults, notes


def listed():
    """No file lies in the copied folders without standing in the list."""
    known = copied_list()
    extra = [name for name in tree.tracked("docs/spec", "testdata/vectors", "conformance/harness", "conformance/bug-cases")
             if name not in known]
    return "listed", [f"{name} is not in {tree.shown(LIST)}" for name in extra], []


def room_steps():
    """Room to step of the house, from the table in docs/architecture.md."""
    steps = {}
    for line in (tree.ROOT / "docs" / "architecture.md").read_text().splitlines():
        row = re.match(r"\| (\d+) \| (.*) \|$", line)
        if row:
            steps.update({room: int(row[1]) for room in re.findall(r"`([a-z]+)/`", row[2])})
    return steps


def rooms():
    """A room includes rooms of earlier steps and itself, nothing else of src/."""
    steps, faults = room_steps(), []
    for name in tree.tracked("src/*.h", "src/*.cc"):
        room = name.split("/")[1]
        if room not in steps:
            faults.append(f"{name}: docs/architecture.md does not know the room {room}")
            continue
        for other in re.findall(r'^#include "([a-z_]+)/', (tree.ROOT / name).read_text(errors="replace"), re.MULTILINE):
            if other in steps and other != room and steps[other] >= steps[room]:
                faults.append(f"{name} includes {other}/, which does not stand above {room}/")
            if other in ("sim", "bench"):
                faults.append(f"{name} includes {other}/, which nothing under src/ may know")
    return "rooms", faults, []


def grep(pattern, *paths):
    """Lines of tracked text files that match."""
    out = subprocess.run(["git", "grep", "-nIE", "--untracked", pattern, "--", *paths], cwd=tree.ROOT, text=True,
                         capture_output=True, errors="replace").stdout
    return [line[:160] for line in out.splitlines()]


def machine():
    """No path of a developer's machine stands in the tree."""
    return "machine paths", grep(MACHINE_PATHS, "."), []


def unfinished():
    """No marks of unfinished work."""
    return "unfinished marks", grep(UNFINISHED, "*.h", "*.cc", "*.py", "*.sh", "*.java", "*.cmake", "CMakeLists.txt"), []


def all_checks():
    return [check() for check in (copies, listed, rooms, machine, unfinished)]
