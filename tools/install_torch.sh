#!/usr/bin/env bash
# Installs LibTorch into .venv, once: the pinned wheels, used as a C++ library (no Python runs with it).
#
#   tools/install_torch.sh [--cuda | --cpu]
#
#   --cpu   the three wheels that C++ on a CPU needs (1.2 GB)
#   --cuda  with every CUDA library (4.7 GB); the default where an NVIDIA device is
#
# Nothing is done when HEADRACE_TORCH_ROOT names a LibTorch of yours.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

torch_version=2.11.0
# libtorch_cpu.so itself needs libcudart and libcupti (its built-in profiler), without a GPU too.
cpu_wheels=("torch==$torch_version" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)

flavour=cpu
[ ! -e /dev/nvidia0 ] || flavour=cuda
case ${1:-} in
  --cpu) flavour=cpu ;;
  --cuda) flavour=cuda ;;
  --help | -h) help_text && exit 0 ;;
  '') ;;
  *) fail "unknown argument '$1'" "use --cpu or --cuda" 2 ;;
esac

if [ -n "${HEADRACE_TORCH_ROOT:-}" ]; then
  [ -e "$HEADRACE_TORCH_ROOT/lib/libtorch_cpu.so" ] || fail \
    "HEADRACE_TORCH_ROOT='$HEADRACE_TORCH_ROOT' has no lib/libtorch_cpu.so" \
    "name the folder that holds include/ and lib/, or unset HEADRACE_TORCH_ROOT" 7
  say "using the LibTorch at $HEADRACE_TORCH_ROOT"
  exit 0
fi

# pip writes a wheel's RECORD last: an interrupted install is taken up again.
installed() { compgen -G ".venv/lib/python3*/site-packages/$1.dist-info/RECORD" >/dev/null; }
if installed "torch-$torch_version" && installed "nvidia_cuda_runtime-13.*" &&
  installed "nvidia_cuda_cupti-13.*" && { [ $flavour = cpu ] || installed "nvidia_nccl*"; }; then
  exit 0
fi

make_venv
say "installing LibTorch $torch_version for $flavour into .venv (a few minutes)"
if [ "$flavour" = cuda ]; then
  .venv/bin/python -m pip install --quiet "torch==$torch_version"
else
  .venv/bin/python -m pip install --quiet --no-deps "${cpu_wheels[@]}"
fi
