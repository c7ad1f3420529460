"""Runs the commands that pages show and compares what they print; --update rewrites them."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRANSCRIPT = re.compile(r"^```\n(\$ headrace .*?)^```$", re.MULTILINE | re.DOTALL)


def transcript_of(block, folder):
    """The same commands with what they print now."""
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, check=True,
                              env=environment, capture_output=True, text=True, timeout=60)
        lines += ["$ " + command, *(line.rstrip() for line in done.stdout.splitlines()), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


PAGES = ("README.md", "docs/schedules.md")


def check(name, folder):
    """True when the page shows what headrace prints; --update makes it so."""
    page = ROOT / name
    shown = page.read_text()
    assert TRANSCRIPT.search(shown), f"{name} shows no command of headrace"
    found = TRANSCRIPT.sub(lambda match: f"```\n{transcript_of(match[1], folder)}```", shown)
    if "--update" in sys.argv:
        page.write_text(found)
    elif found != shown:
        print(f"{name} shows what headrace no longer prints; see the difference, then run "
              "tests/tools/readme_test.py HEADRACE --update\n" + found)
        return False
    return True


def main():
    folder = pathlib.Path(sys.argv[1]).resolve().parent
    if not all([check(name, folder) for name in PAGES]):
        sys.exit(1)


if __name__ == "__main__":
    main()
