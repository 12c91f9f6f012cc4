"""./dev lint [--all] [FILE...]: clang-tidy (.clang-tidy) over the sources that differ from the main branch and what is
not committed, over all of them, or over the files named. Sources are compiled without precompiled headers here, so a
missing #include is seen."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import tree

DATABASE = tree.BUILD / "lint"


def write_database():
    """The release build's compile commands, less what only g++ and its precompiled headers want."""
    subprocess.run([tree.ROOT / "tools/dev/build.sh", "release", "build.ninja"], check=True, stdout=subprocess.DEVNULL)
    # Generated headers have to be there: whatever lies in the generated folder is built.
    rules = subprocess.run(["ninja", "-C", str(tree.BUILD / "release"), "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    made = [line.split(":")[0] for line in rules.splitlines() if re.match(r"generated/\S+\.(h|cc): CUSTOM", line)]
    if made:
        subprocess.run(["ninja", "-C", str(tree.BUILD / "release"), *made], check=True, stdout=subprocess.DEVNULL)
    commands = json.loads((tree.BUILD / "release" / "compile_commands.json").read_text())
    kept = []
    for entry in commands:
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if word.endswith("g++")):]
        clean, skip = [], False
        for at, word in enumerate(words):
            if skip:
                skip = False
            elif word == "-include" and words[at + 1].endswith("cmake_pch.hxx"):
                skip = True
            elif word not in ("-Winvalid-pch", "-fpch-preprocess"):
                clean.append(word)
        if "cmake_pch" not in entry["file"]:
            kept.append(dict(directory=entry["directory"], file=entry["file"], arguments=clean))
    DATABASE.mkdir(parents=True, exist_ok=True)
    (DATABASE / "compile_commands.json").write_text(json.dumps(kept, indent=1))
    return {os.path.relpath(entry["file"], tree.ROOT) for entry in kept}


def changed():
    """Sources that differ from origin/main (or, without one, from the last commit), and new ones."""
    base = "HEAD"
    if subprocess.run(["git", "rev-parse", "-q", "--verify", "origin/main"], cwd=tree.ROOT, capture_output=True).returncode == 0:
        base = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout.strip()
    out = subprocess.run(["git", "diff", "--name-only", base], cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    new = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    return set((out + new).split("\n"))


def tidy(name):
    run = subprocess.run(["clang-tidy-19", "-p", str(DATABASE), "--quiet", name], cwd=tree.ROOT, capture_output=True, text=True)
    return name, run.returncode, run.stdout.strip()


def main(argv):
    if argv[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 2
    known = write_database()
    if argv == ["--all"]:
        files = known
    elif argv:
        files = {os.path.relpath(pathlib.Path(name).resolve(), tree.ROOT) for name in argv}
        unknown = files - known
        if unknown:
            print(f"no compile command for {', '.join(sorted(unknown))} (name .cc files)", file=sys.stderr)
            return 2
    else:
        files = {name for name in changed() if name in known}
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, said in pool.map(tidy, sorted(files)):
            if code != 0:
                faulty += 1
                print(said, flush=True)
    print(f"{len(files)} files looked at, {faulty} with faults")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
