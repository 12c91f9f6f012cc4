"""Which lines of each decoder the kept fuzz corpus reaches: at least 90 % are demanded.

The decoder of src/ROOM/NAME_fuzz.cc is src/ROOM/NAME.cc, or the files that the fuzz entry names in a comment line
`// covers: src/ROOM/A.cc src/ROOM/B.cc`. Part of ./dev test --full."""

import json
import os
import pathlib
import re
import subprocess
import sys

import tree

WANTED_PERCENT = 90.0
PROFILES = tree.BUILD / "coverage" / "profiles"


def decoders(source):
    text = (tree.ROOT / source).read_text()
    named = re.findall(r"^// covers: (.*)$", text, re.MULTILINE)
    if named:
        return sorted({name for line in named for name in line.split()})
    return [source.replace("_fuzz.cc", ".cc")]


def entries():
    """Fuzz target to its source."""
    return {f"{pathlib.Path(name).parts[1]}_{pathlib.Path(name).stem}": name for name in tree.tracked("src/*_fuzz.cc")}


def lines_reached(target):
    """Source file to percent of its lines that the target's corpus reaches."""
    program = tree.BUILD / "coverage" / "bin" / target
    raw, merged = PROFILES / f"{target}.raw", PROFILES / f"{target}.data"
    env = dict(os.environ, LLVM_PROFILE_FILE=str(raw))
    subprocess.run([program, "-runs=0", "-verbosity=0", tree.CORPUS / target], env=env, check=True)
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", raw, "-o", merged], check=True)
    out = subprocess.run(["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", program], check=True, capture_output=True, text=True).stdout
    files = json.loads(out)["data"][0]["files"]
    # The compiler was told to forget where the tree lies, so names may be relative to it or to the build folder.
    return {re.sub(r"^.*?(src/)", r"\1", f["filename"]): f["summary"]["lines"]["percent"] for f in files}


def main():
    PROFILES.mkdir(parents=True, exist_ok=True)
    subprocess.run([tree.ROOT / "tools/dev/build.sh", "coverage", *entries()], check=True)
    passed = failed = 0
    for target, source in sorted(entries().items()):
        if not (tree.CORPUS / target).is_dir():
            print(f"{target}: no kept corpus")
            failed += 1
            continue
        reached = lines_reached(target)
        for decoder in decoders(source):
            percent = reached.get(decoder, 0.0)
            good = percent >= WANTED_PERCENT
            passed, failed = passed + good, failed + (not good)
            print(f"{'' if good else 'TOO FEW  '}{decoder:50}{percent:6.1f} % of lines by {target}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
