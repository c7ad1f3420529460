#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json.
#
#   tools/build.sh [PRESET] [TARGET...]       PRESET: ci unless named
#
# HEADRACE_TORCH_ROOT in the environment names a LibTorch of yours.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in --help | -h) help_text && exit 0 ;; esac
preset=${1:-ci}
shift || true

settings=()
if [ -n "${HEADRACE_TORCH_ROOT:-}" ]; then settings+=("-DHEADRACE_TORCH_ROOT=$HEADRACE_TORCH_ROOT"); fi
targets=()
if [ $# -gt 0 ]; then targets=(--target "$@"); fi

cmake --preset "$preset" "${settings[@]}"
cmake --build --preset "$preset" --parallel "$(build_jobs)" "${targets[@]}"
