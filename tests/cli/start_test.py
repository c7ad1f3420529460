#!/usr/bin/env python3
"""headrace starts in less than 50 ms and needs no library of LibTorch or CUDA to start."""
import re
import subprocess
import sys
import time

LIMIT_S = 0.050


def needed_libraries(program):
    text = subprocess.run(["readelf", "--dynamic", program], capture_output=True, text=True,
                          check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def start_time(program):
    begin = time.perf_counter()
    subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def main():
    program = sys.argv[1]
    heavy = [name for name in needed_libraries(program)
             if re.match(r"lib(torch|c10|cuda|cupti|cudart|nccl)", name)]
    # The fastest of many starts: on a busy machine the others say how busy it is.
    fastest = min(start_time(program) for _ in range(30))
    sanitized = any(name.startswith(("libasan", "libtsan")) for name in needed_libraries(program))
    print(f"fastest start: {fastest * 1e3:.1f} ms; heavy libraries: {heavy or 'none'}")
    sys.exit(bool(heavy) or (fastest > LIMIT_S and not sanitized))


if __name__ == "__main__":
    main()
