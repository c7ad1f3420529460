#!/usr/bin/env bash
# The main job from end to end on this machine: profile, plan, simulate, run, compare. A minute or
# two the first time (after installing and building), seconds after that.
#
#   tools/demo.sh                             writes demo/; trace.json opens in ui.perfetto.dev
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

case ${1:-} in
  '') ;;
  --help | -h) help_text && exit 0 ;;
  *) fail "unknown argument '$1'" "call it without arguments" 2 ;;
esac

tools/install_packages.sh
tools/install_torch.sh
HEADRACE_TORCH=ON tools/build.sh ci headrace headrace-torch >&2

headrace() {
  printf '\n$ headrace %s\n' "$*" >&2
  build/ci/headrace "$@"
}

mkdir -p demo
worker=build/ci/headrace-torch
if [ demo/profile.json -nt $worker ]; then
  say "demo/profile.json is reused; remove it to measure anew"
else
  headrace profile gpt-small-demo --micro-batch 4 -o demo/profile.json
fi
headrace plan demo/profile.json --stages 2 --devices 2 --micro-batches 8 -o demo/plan.json
headrace simulate demo/plan.json -o demo/predicted.json
headrace run demo/plan.json --numerics -o demo/measured.json --trace demo/trace.json

# A model measured by others: four V100 and VGG-16, from PipeDream's repository.
# Its table of 41 layers would push the comparison off the screen.
headrace import pipedream data/profiles/pipedream/vgg16.graph.txt -o demo/vgg16.profile.json \
  >/dev/null
headrace plan demo/vgg16.profile.json --devices 4 --micro-batches 8 -o demo/vgg16.plan.json
say "all of it is in demo/; trace.json opens in ui.perfetto.dev"
