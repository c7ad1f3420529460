#!/usr/bin/env bash
# Installs the packages that building Headrace needs, as root or through sudo; only what is missing.
#
#   tools/install_packages.sh [--lint] [--bench]
#
#   --lint   also clang-format, clang-tidy and shellcheck (tools/lint.sh)
#   --bench  also Google Benchmark (preset bench)
#
# Knows apt: Debian 12 and 13, Ubuntu 22.04 and 24.04. Elsewhere it prints what to install.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

# command:package; a tool that is already there, however it came, is not installed again.
tools=(g++:g++ ninja:ninja-build ccache:ccache git:git python3:python3)
libraries=(
  libboost-dev libeigen3-dev libfmt-dev libexpected-dev libcli11-dev
  nlohmann-json3-dev doctest-dev libssl-dev
)

for argument in "$@"; do
  case $argument in
    --lint) tools+=(clang-format:clang-format clang-tidy:clang-tidy shellcheck:shellcheck) ;;
    --bench) libraries+=(libbenchmark-dev) ;;
    --help | -h) help_text && exit 0 ;;
    *) fail "unknown argument '$argument'" "use --lint or --bench" 2 ;;
  esac
done

missing_packages() {
  local tool installed package
  for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null || echo "${tool##*:}"
  done
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  cmake_is_new_enough cmake || command -v cmake >/dev/null || echo cmake
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${libraries[@]}" \
    2>/dev/null | sed -n 's/^installed //p') || true
  for package in "${libraries[@]}"; do
    grep --quiet --line-regexp --fixed-strings "$package" <<<"$installed" || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "installing needs root, and there is no sudo" "as root, run: $*" 7
  fi
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  names="cmake >= $needed_cmake ${tools[*]##*:} python3-venv ${libraries[*]}"
  fail "this system has no apt" "install by hand what Debian calls $names" 7
fi

mapfile -t missing < <(missing_packages)
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] || fail \
    "still missing after apt-get: ${missing[*]}" "see apt's messages above" 7
fi

if ! cmake_is_new_enough cmake && ! cmake_is_new_enough .venv/bin/cmake; then
  say "cmake here is older than $needed_cmake: installing a newer one into .venv"
  make_venv
  .venv/bin/python -m pip install --quiet "cmake>=$needed_cmake,<4"
fi
