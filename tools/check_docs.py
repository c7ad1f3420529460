#!/usr/bin/env python3
"""Fails when a page names a file or folder of this tree that does not exist."""
import pathlib
import re
import sys

PAGES = ["README.md", "CHANGELOG.md", *sorted(map(str, pathlib.Path("docs").glob("*.md")))]
MADE_BY_A_BUILD = ("build/", "demo/", "gpu_check/", ".venv")


def named_paths(line):
    """Paths in code spans and commands that start at a folder of this tree, and relative links."""
    folders = "|".join(re.escape(p.name) for p in pathlib.Path(".").iterdir() if p.is_dir())
    for path in re.findall(rf"(?<![\w/.-])(?:\./)?((?:{folders})/[\w./-]*)", line):
        yield path.rstrip(".")
    for root_file in re.findall(r"`([A-Z][\w]*\.(?:json|txt|md))`", line):
        yield root_file


def complaints(page):
    folder = pathlib.Path(page).parent
    for number, line in enumerate(pathlib.Path(page).read_text().splitlines(), 1):
        for target in re.findall(r"\]\(([^)#:]+)\)", line):
            if not (folder / target).exists():
                yield f"{page}:{number}: link to {target}: there is no such file"
        for path in named_paths(re.sub(r"\]\([^)]*\)", "]", line)):
            if not path.startswith(MADE_BY_A_BUILD) and not pathlib.Path(path).exists():
                yield f"{page}:{number}: {path}: there is no such file or folder"


found = [complaint for page in PAGES if pathlib.Path(page).exists() for complaint in complaints(page)]
print("\n".join(found) or "docs: ok")
sys.exit(bool(found))
