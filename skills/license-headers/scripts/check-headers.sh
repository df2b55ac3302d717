#!/usr/bin/env bash
# Find source files that lack a header. Changes nothing; answers with JSON.
#
# Usage: check-headers.sh [--root <folder>] [--extensions <list>] [--exit-code]
#
#   --root <folder>       where to look (default: .)
#   --extensions <list>   which files, such as ts,py,sh; all languages that are known unless set
#   --exit-code           end with exit code 3 if some files have no header
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

root=.
extensions=$default_extensions
exit_code=0
while [[ $# -gt 0 ]]; do
  case "$1" in
    --root) root=${2:?--root needs a folder}; shift 2 ;;
    --extensions) extensions=${2:?--extensions needs a list}; shift 2 ;;
    --exit-code) exit_code=3; shift ;;
    -h | --help) sed -n '2,8p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) fail "unknown argument $1; see --help" 2 ;;
  esac
done
[[ $extensions =~ ^[A-Za-z0-9]+(,[A-Za-z0-9]+)*$ ]] || fail "--extensions $extensions: write them like ts,py,sh" 2
[[ -d $root ]] || fail "there is no folder $root"

missing=()
checked=0
generated=0
while IFS= read -r -d '' file; do
  if is_generated "$file"; then
    generated=$((generated + 1))
    continue
  fi
  checked=$((checked + 1))
  has_header "$file" || missing+=("$file")
done < <(list_files "$root" "$extensions")

printf '{ "checked": %d, "generated": %d, "missing": %d, "files": ' "$checked" "$generated" "${#missing[@]}"
json_list ${missing[@]+"${missing[@]}"}
printf ' }\n'
[[ ${#missing[@]} -eq 0 ]] || exit "$exit_code"
