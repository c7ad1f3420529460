#!/usr/bin/env python3
"""Fails when a file includes what its folder may not, or is too long to read in one sitting."""
import pathlib
import re
import sys

MAY_INCLUDE = {  # folder -> our folders it may include; itself is implied
    "core": [], "models": ["core"], "planner": ["core"], "simulator": ["core"],
    "interop": ["core"], "report": ["core"],
    "profiler": ["core", "models"], "executor": ["core", "models"],
    "tools": ["core", "models", "planner", "simulator", "profiler", "executor", "interop", "report"],
}
NO_TORCH = "tools/headrace/"  # links no LibTorch: may not include the folders that need it
TORCH_ROOMS = r"(models|executor)/torch/|profiler/(cpu|cupti)/"
HEAVY = {  # header pattern -> the only folders allowed to include it (CPU seconds it costs a file)
    r"torch/|ATen/|c10/": ["executor/torch", "models/torch", "profiler/cpu", "tests/torch"],  # 16 s
    r"cupti|cuda": ["profiler/cupti", "executor/nccl", "executor/torch", "tests/profiler",
                    "tests/gpu"],
    r"nccl": ["executor/nccl"],
    r"CLI/": ["tools/headrace", "tools/headrace-torch"],  # 8 s
    r"Eigen/": ["executor"],  # 3 s
    r"nlohmann/": ["core/json", "tests/"],  # 5 s
}
MAX_LINES = 500


def complaints(path):
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        yield f"{path}:{MAX_LINES}: {len(lines)} lines; split it (limit {MAX_LINES})"
    folder = path.parts[0]
    for number, line in enumerate(lines, 1):
        if ours := re.match(r'#include "(([\w-]+)/[^"]*)"', line):
            room = ours[2]
            if room != folder and room not in MAY_INCLUDE.get(folder, [room]):
                yield f"{path}:{number}: {folder}/ may not include {room}/; pass data through core/"
            if str(path).startswith(NO_TORCH) and re.match(TORCH_ROOMS, ours[1]):
                yield f"{path}:{number}: {NO_TORCH} links no LibTorch; use tools/headrace-torch/"
        if theirs := re.match(r"#include <([^>]+)>", line):
            for pattern, allowed in HEAVY.items():
                if re.match(pattern, theirs[1]) and not any(
                        str(path.parent).startswith(a) for a in allowed):
                    yield f"{path}:{number}: <{theirs[1]}> belongs only in {', '.join(allowed)}/"


FOLDERS = [*MAY_INCLUDE, "tests", "bench"]
found = [c for folder in FOLDERS for suffix in ("*.h", "*.cpp", "*.cu")
         for path in sorted(pathlib.Path(folder).rglob(suffix)) for c in complaints(path)]
print("\n".join(found) or "layers: ok")
sys.exit(bool(found))
