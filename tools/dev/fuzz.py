"""./dev fuzz [NAME|all [SECONDS]]: one fuzz entry for long, or all in turn; what they find is kept in the corpus.

Without a name it lists the entries. The asan build is made first. New inputs go to build/fuzz/NAME; at the end those
that reach new code are merged into testdata/corpus/NAME (commit them). A crash leaves its input in
build/fuzz/NAME-crashes: put it into testdata/corpus/NAME with the mend, so that it is tried for ever.
"""

import os
import subprocess
import sys
import tempfile

import native_stages
import tree


def kept(name):
    folder = tree.CORPUS / name
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def fuzz(name, seconds):
    subprocess.run([tree.ROOT / "tools/dev/build.sh", "asan", name], check=True)
    program = tree.BUILD / "asan" / "bin" / name
    corpus, found, crashes = tree.CORPUS / name, tree.BUILD / "fuzz" / name, tree.BUILD / "fuzz" / f"{name}-crashes"
    for folder in (corpus, found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, **native_stages.SANITIZER_ENV)
    code = subprocess.run([program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", f"-fork={os.cpu_count()}",
                           f"-artifact_prefix={crashes}/", found, corpus], env=env).returncode
    if code != 0:
        print(f"{name} broke; the input is in {tree.shown(crashes)}/")
        return code
    return keep(program, corpus, found, env)


def keep(program, corpus, found, env):
    """Merges into the kept corpus what reaches code that it does not reach yet, smallest inputs first."""
    before = len(list(corpus.iterdir()))
    with tempfile.TemporaryDirectory(dir=tree.BUILD) as fresh:
        subprocess.run([program, "-merge=1", "-verbosity=0", fresh, corpus, found], env=env, check=True)
        for new in os.listdir(fresh):
            target = corpus / new
            if not target.exists():
                os.rename(os.path.join(fresh, new), target)
    print(f"{tree.shown(corpus)}: {before} inputs before, {len(list(corpus.iterdir()))} now")
    return 0


def main(argv):
    if len(argv) > 2 or argv[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 2
    subprocess.run([tree.ROOT / "tools/dev/build.sh", "asan", "build.ninja"], check=True, stdout=subprocess.DEVNULL)
    names = tree.fuzz_targets()
    if not argv:
        for name in names:
            print(f"{name:44}{kept(name):6} kept inputs")
        return 0
    seconds = int(argv[1]) if len(argv) > 1 else 600
    if argv[0] == "all":
        return max(fuzz(name, seconds) for name in names)
    if argv[0] not in names:
        print(f"there is no fuzz entry {argv[0]}; ./dev fuzz lists them", file=sys.stderr)
        return 2
    return fuzz(argv[0], seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
