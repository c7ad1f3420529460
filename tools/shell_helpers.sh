# What the scripts beside it share: where the tree is, what they say, which cmake they call. Sourced.
# shellcheck shell=bash
set -euo pipefail

source_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$source_dir"

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

# fail MESSAGE FIX STATUS: the same form as the errors of the program.
fail() {
  printf 'error: %s: %s\n  fix: %s\n' "$(basename "$0" .sh)" "$1" "$2" >&2
  exit "$3"
}

# The comment block at the top of the calling script is its help.
help_text() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1)" = "$2" ]; }

needed_cmake=3.25
cmake_is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p') || return 1
  [ -n "$version" ] && version_at_least "$version" "$needed_cmake"
}

# Ubuntu 22.04's cmake is too old: install_packages.sh then puts a newer one into .venv.
if ! cmake_is_new_enough cmake && cmake_is_new_enough .venv/bin/cmake; then
  PATH="$source_dir/.venv/bin:$PATH"
fi

# A LibTorch file takes up to 1.5 GB to compile: as many jobs as cores, fewer where memory is short.
build_jobs() {
  local cores memory_jobs
  cores=$(nproc)
  memory_jobs=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  [ "${memory_jobs:-0}" -ge 1 ] || memory_jobs=1
  echo $((cores < memory_jobs ? cores : memory_jobs))
}

# An interrupted `python3 -m venv` leaves a folder without pip: it is made anew.
make_venv() {
  [ -x .venv/bin/pip ] || python3 -m venv .venv || fail \
    "python3 -m venv failed" "tools/install_packages.sh installs python3-venv" 7
}
