#!/usr/bin/env bash
# Runs the tests under sanitizers: all of them under address and undefined-behaviour, the threaded
# ones (executor, profiler, sweeps) under thread. LibTorch is not instrumented, so its tests are not in.
#
#   tools/sanitize.sh [address|thread]        both unless one is named
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in
  --help | -h) help_text && exit 0 ;;
  '' | address | thread) kinds=${1:-address thread} ;;
  *) fail "unknown argument '$1'" "use address or thread" 2 ;;
esac

# ThreadSanitizer of older compilers stops on kernels that randomise many address bits.
fixed_addresses() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi
}

tools/install_packages.sh
for kind in $kinds; do
  case $kind in
    address)
      tools/build.sh asan
      ctest --preset asan --parallel "$(nproc)"
      ;;
    thread)
      fixed_addresses tools/build.sh tsan executor_test profiler_test simulator_test
      fixed_addresses ctest --preset tsan --parallel "$(nproc)" --tests-regex '^(executor|profiler)\.|thread count'
      ;;
  esac
done
