#!/usr/bin/env python3
"""Every help fits one screen, ends with two examples, and the examples run."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = ["profile", "import", "plan", "simulate", "whatif", "run", "compare", "schema", "doctor"]
NEEDS_WORKER = ("headrace profile", "headrace run")
LINES, COLUMNS = 28, 100


def bash(command, folder, environment):
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False)


def complaints_about_help(name, text):
    lines = text.splitlines()
    if len(lines) > LINES:
        yield f"{name}: {len(lines)} lines (at most {LINES})"
    for line in lines:
        if len(line) > COLUMNS:
            yield f"{name}: {len(line)} columns (at most {COLUMNS}): {line}"
    if lines[-3] != "examples:" or not all(l.startswith("  headrace ") for l in lines[-2:]):
        yield f"{name}: does not end with two examples"


def prepare(folder, environment):
    """The files that examples name."""
    for name in ("data", "tests"):
        os.symlink(ROOT / name, pathlib.Path(folder) / name)
    for command in (
            "headrace import pipedream tests/cli/toy.graph.txt -o profile.json",
            "headrace plan profile.json --devices 2 --micro-batches 4 -o plan.json",
            "headrace simulate plan.json --timeline measured.json"):
        done = bash(command, folder, environment)
        if done.returncode:
            sys.exit(f"preparing: {command}\n{done.stderr}")


def complaints_about_example(command, folder, environment):
    done = bash(command, folder, environment)
    needs_worker = command.startswith(NEEDS_WORKER) and "--emulate" not in command
    if done.returncode != (7 if needs_worker else 0):
        yield f"{command}: status {done.returncode}\n{done.stderr}"


def main():
    headrace = pathlib.Path(sys.argv[1]).resolve()
    environment = dict(os.environ, PATH=f"{headrace.parent}:{os.environ['PATH']}",
                       HEADRACE_TORCH_WORKER="/nonexistent/headrace-torch")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, environment)
        for verb in ["", *VERBS]:  # each in a copy: examples write files
            copy = f"{folder}.{verb}"
            shutil.copytree(folder, copy, symlinks=True)
            text = bash(f"headrace {verb} --help", folder, environment).stdout
            found += complaints_about_help(f"headrace {verb}", text)
            for example in text.splitlines()[-2:]:
                found += complaints_about_example(example.strip(), copy, environment)
            shutil.rmtree(copy)
    print("\n".join(found) or "help: ok")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
