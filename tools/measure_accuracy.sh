#!/usr/bin/env bash
# Measures how far predictions are off on this machine: one profile, then real runs of two stages.
# Run by hand on an otherwise idle machine; takes some minutes.
#
#   tools/measure_accuracy.sh [--iterations N] [--model NAME] [--output FOLDER]
#
# Writes data/measured/<date>-<processor>.md and .json; runs and documents stay in build/accuracy/.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in --help | -h) help_text && exit 0 ;; esac
tools/install_packages.sh
tools/install_torch.sh
HEADRACE_TORCH=ON tools/build.sh ci headrace headrace-torch >&2
exec python3 tools/measure_accuracy.py "$@"
