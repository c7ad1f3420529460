#!/usr/bin/env bash
# Installs what is missing, builds preset ci with LibTorch and runs every test.
#
#   tools/test.sh [CTEST ARGUMENT...]         for example: tools/test.sh -L planner
#
# The last lines are ctest's own summary, the exit status is its status.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in --help | -h) help_text && exit 0 ;; esac
tools/install_packages.sh
tools/install_torch.sh
HEADRACE_TORCH=ON tools/build.sh ci
exec ctest --preset ci --parallel "$(nproc)" "$@"
