#!/usr/bin/env bash
# Shows what works on a machine with an NVIDIA GPU: driver, CUPTI, a real activity record, and the
# whole path on its CPU cores. Everything is written to $OUT, or ./gpu_check.
#
#   tools/gpu_check.sh            install, build preset gpu, check
#   tools/gpu_check.sh --pack     only build, and gather the programs in build/gpu_pack
#   tools/gpu_check.sh --packed   only check, with the programs of build/gpu_pack: for a machine
#                                 where nothing can be installed. Its LibTorch 2.11 is found through
#                                 HEADRACE_TORCH_ROOT or its python3.
#
# Not there yet, and so not checked: profiling layers on the GPU, stages on the GPU, NCCL.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

build=build/gpu
pack=build/gpu_pack
mode=${1:-all}
case $mode in
  all | --pack | --packed) ;;
  --help | -h) help_text && exit 0 ;;
  *) fail "unknown argument '$mode'" "use --pack or --packed" 2 ;;
esac

build_programs() {
  tools/install_packages.sh
  tools/install_torch.sh
  tools/build.sh gpu headrace headrace-torch gpu_test >&2
}

# LibTorch and CUDA stay where they are; what is small and not in every system comes along.
gather_programs() {
  local program
  mkdir -p $pack
  for program in headrace headrace-torch tests/gpu/gpu_test; do
    cp $build/$program $pack/
  done
  ldd $pack/headrace | awk '/libfmt|libcrypto/ {print $3}' | xargs --no-run-if-empty cp -t $pack
  say "programs are in $pack ($(du -sh $pack | cut -f 1))"
}

# step NAME COMMAND...: runs it, keeps its output, goes on after a failure and counts it.
failures=0
step() {
  local name=$1 status=0
  shift
  "$@" >"$out/$name.txt" 2>&1 || status=$?
  printf '%-10s exit %-3s %s\n' "$name" "$status" "$*" | tee -a "$out/summary.txt"
  [ "$status" = 0 ] || failures=$((failures + 1))
}

case $mode in
  all) build_programs && gather_programs ;;
  --pack) build_programs && gather_programs && exit 0 ;;
  --packed)
    [ -x $pack/headrace ] || fail "there are no programs in $pack" \
      "run tools/gpu_check.sh --pack where packages can be installed" 7
    ;;
esac

torch_root=${HEADRACE_TORCH_ROOT:-$(ls -d .venv/lib/python3*/site-packages/torch 2>/dev/null || true)}
[ -n "$torch_root" ] || torch_root=$(python3 -c \
  'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])') ||
  fail "no LibTorch on this machine" "set HEADRACE_TORCH_ROOT" 7
export LD_LIBRARY_PATH=$pack:$torch_root/lib:$torch_root/../nvidia/cu13/lib:${LD_LIBRARY_PATH:-}

out=${OUT:-gpu_check}
mkdir -p "$out"
: >"$out/summary.txt"
step nvidia-smi nvidia-smi
step gpu_test $pack/gpu_test --success=false
step doctor $pack/headrace doctor
step profile $pack/headrace profile gpt-small-demo --micro-batch 4 -o "$out/profile.json"
step plan $pack/headrace plan "$out/profile.json" --devices 2 --micro-batches 8 -o "$out/plan.json"
step run $pack/headrace run "$out/plan.json" --numerics -o "$out/measured.json"
step compare $pack/headrace compare "$out/plan.json" "$out/measured.json"
say "profile, run and compare used the CPU cores: stages on the GPU are not there yet"
[ $failures = 0 ] || fail "$failures of the steps failed" "read their output in $out" 1
