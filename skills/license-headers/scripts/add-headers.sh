#!/usr/bin/env bash
# Add an SPDX header to every source file that has none. Answers with JSON.
#
# Usage: add-headers.sh --license <id> --holder <name> [--year <year>] [--root <folder>] [--extensions <list>] [--dry-run]
#
#   --license <id>        the SPDX identifier, such as MIT or Apache-2.0
#   --holder <name>       who holds the copyright
#   --year <year>         the year of the copyright, such as 2024 or 2020-2024; this year unless set
#   --root <folder>       where to look (default: .)
#   --extensions <list>   which files, such as ts,py,sh; all languages that are known unless set
#   --dry-run             only say what would change
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

license=
holder=
year=$(date +%Y)
root=.
extensions=$default_extensions
dry_run=false
while [[ $# -gt 0 ]]; do
  case "$1" in
    --license) license=${2:?--license needs an identifier}; shift 2 ;;
    --holder) holder=${2:?--holder needs a name}; shift 2 ;;
    --year) year=${2:?--year needs a year}; shift 2 ;;
    --root) root=${2:?--root needs a folder}; shift 2 ;;
    --extensions) extensions=${2:?--extensions needs a list}; shift 2 ;;
    --dry-run) dry_run=true; shift ;;
    -h | --help) sed -n '2,11p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) fail "unknown argument $1; see --help" 2 ;;
  esac
done
[[ -n $license ]] || fail "--license is missing" 2
[[ -n $holder ]] || fail "--holder is missing" 2
[[ $license =~ ^[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*$ ]] || fail "--license $license is not an SPDX identifier" 2
[[ $holder != *[[:cntrl:]]* ]] || fail "--holder must be one line" 2
[[ $year =~ ^[0-9]{4}(-[0-9]{4})?$ ]] || fail "--year $year is not a year" 2
[[ $extensions =~ ^[A-Za-z0-9]+(,[A-Za-z0-9]+)*$ ]] || fail "--extensions $extensions: write them like ts,py,sh" 2
[[ -d $root ]] || fail "there is no folder $root"

header_line() {
  case "$1" in
    '/*') printf '/* %s */\n' "$2" ;;
    *) printf '%s %s\n' "$1" "$2" ;;
  esac
}

# Writes beside the file first, so that a crash never leaves half of it.
add_header() {
  local file=$1 prefix=$2 draft first rest
  draft=$(mktemp "$file.XXXXXX")
  IFS= read -r first <"$file" || true
  {
    if [[ $first == '#!'* || $first == '<?php'* ]]; then
      printf '%s\n' "$first"
      rest=2
    else
      rest=1
    fi
    header_line "$prefix" "SPDX-FileCopyrightText: $year $holder"
    header_line "$prefix" "SPDX-License-Identifier: $license"
    printf '\n'
    tail -n "+$rest" -- "$file"
  } >"$draft"
  chmod --reference="$file" "$draft" 2>/dev/null || true
  mv -- "$draft" "$file"
}

changed=()
while IFS= read -r -d '' file; do
  prefix=$(comment_prefix "${file##*.}")
  if [[ -z $prefix ]] || is_generated "$file" || has_header "$file"; then continue; fi
  changed+=("$file")
  [[ $dry_run == true ]] || add_header "$file" "$prefix"
done < <(list_files "$root" "$extensions")

printf '{ "dry_run": %s, "changed": %d, "files": ' "$dry_run" "${#changed[@]}"
json_list ${changed[@]+"${changed[@]}"}
printf ' }\n'
