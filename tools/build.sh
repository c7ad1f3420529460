#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json.
#
#   tools/build.sh [PRESET] [TARGET...]       PRESET: ci unless named
#
# In the environment, HEADRACE_TORCH_ROOT names a LibTorch of yours, and HEADRACE_TORCH=ON makes a
# missing one an error.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in --help | -h) help_text && exit 0 ;; esac
preset=${1:-ci}
shift || true

settings=()
for name in HEADRACE_TORCH HEADRACE_TORCH_ROOT; do
  if [ -n "${!name:-}" ]; then settings+=("-D$name=${!name}"); fi
done
targets=()
if [ $# -gt 0 ]; then targets=(--target "$@"); fi

cmake --preset "$preset" "${settings[@]}"
cmake --build --preset "$preset" --parallel "$(build_jobs)" "${targets[@]}"
