#!/usr/bin/env python3
"""Runs the command lines of a transcript and compares what they print with what it says.

  # a comment
  $ headrace --version          a command for bash, in an empty folder with data/ of the repository
  > headrace <version>          a line of standard output
  ! warning: ...                a line of standard error
  ? 2                           the exit status, where it is not 0

In expected lines <version>, <number>, <path> and <text> stand for what differs between machines.
--update writes what the commands print into the transcript, for a person to read before a commit.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WILDCARDS = {"<version>": r"\d+\.\d+\.\d+", "<number>": r"[-+]?[\d.]+(?:e[-+]?\d+)?",
             "<path>": r"[^ :]+", "<text>": r".*"}
ROOT = pathlib.Path(__file__).resolve().parents[2]


def matches(expected, line):
    parts = re.split("(" + "|".join(WILDCARDS) + ")", expected)
    return re.fullmatch("".join(WILDCARDS.get(p, re.escape(p)) for p in parts), line) is not None


def run(command, folder, environment):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    lines = ["> " + line for line in done.stdout.decode(errors="replace").splitlines()]
    lines += ["! " + line for line in done.stderr.decode(errors="replace").splitlines()]
    return [line.rstrip() for line in lines] + ([f"? {done.returncode}"] if done.returncode else [])


def agrees(expected, actual):
    return len(expected) == len(actual) and all(map(matches, expected, actual))


def blocks_of(text):
    """[(lines before, command, expected lines)]; the last command may be None."""
    blocks = [([], None, [])]
    for line in text.splitlines():
        if line.startswith("$ "):
            blocks.append(([], line[2:], []))
        elif line[:2] in ("> ", "! ", "? ") or line in (">", "!"):
            blocks[-1][2].append(line)
        else:
            blocks[-1][0].append(line)
    return blocks


def check(path, environment, update):
    text, failures = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "data", pathlib.Path(folder) / "data")
        os.symlink(ROOT / "tests", pathlib.Path(folder) / "tests")
        for after, command, expected in blocks_of(path.read_text()):
            if command is not None:
                actual = run(command, folder, environment)
                text += ["$ " + command, *(expected if agrees(expected, actual) else actual)]
                if not agrees(expected, actual) and not update:
                    failures += 1
                    print(f"{path}: $ {command}", "expected:", *expected, "found:", *actual,
                          sep="\n  ")
            text += after
    if update:
        path.write_text("\n".join(text) + "\n")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("headrace", type=pathlib.Path)
    parser.add_argument("transcripts", type=pathlib.Path, nargs="+")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    environment = {"PATH": f"{options.headrace.resolve().parent}:{os.environ['PATH']}",
                   "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
                   "HEADRACE_TORCH_WORKER": "/nonexistent/headrace-torch"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "TMPDIR"):
        if name in os.environ:
            environment[name] = os.environ[name]
    sys.exit(sum(check(path, environment, options.update) for path in options.transcripts) > 0)


if __name__ == "__main__":
    main()
