#!/usr/bin/env bash
# Checks how the code is written: clang-format and shellcheck on all, clang-tidy on what changed.
#
#   tools/lint.sh [--all | --format]
#
#   --all     clang-tidy on every file (about ten CPU seconds each)
#   --format  without clang-tidy
#
# "Changed" is everything since the last commit that origin has, or what is not committed yet.
source "$(dirname "${BASH_SOURCE[0]}")/shell_helpers.sh"

scope=changed
case ${1:-} in
  --all) scope=all ;;
  --format) scope=none ;;
  --help | -h) help_text && exit 0 ;;
  '') ;;
  *) fail "unknown argument '$1'" "use --all or --format" 2 ;;
esac

tools/install_packages.sh --lint
mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp' |
  grep --invert-match '^third_party/')
clang-format --dry-run --Werror "${sources[@]}"
shellcheck --external-sources --source-path=SCRIPTDIR tools/*.sh .ci/run
say "${#sources[@]} files are in the house format"
[ "$scope" != none ] || exit 0

tools/build.sh ci
compiled=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/ci/compile_commands.json)
changed_sources() {
  local base
  base=$(git merge-base HEAD origin/HEAD 2>/dev/null || git rev-parse HEAD)
  { git diff --name-only "$base" && git ls-files --others --exclude-standard; } | sort --unique
}
list=$(if [ "$scope" = all ]; then printf '%s\n' "${sources[@]}"; else changed_sources; fi)
mapfile -t tidied < <(grep '\.cpp$' <<<"$list" | while read -r file; do
  grep --line-regexp --fixed-strings "$source_dir/$file" <<<"$compiled" || true
done)
if [ ${#tidied[@]} -eq 0 ]; then say "clang-tidy: no compiled file has changed"; exit 0; fi
printf '%s\0' "${tidied[@]}" |
  xargs --null --max-args 1 --max-procs "$(nproc)" clang-tidy --quiet -p build/ci
say "clang-tidy: ${#tidied[@]} files are clean"
