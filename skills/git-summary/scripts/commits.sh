#!/usr/bin/env bash
# List the commits of a range, as JSON: hash, date, author, subject, and the number of files.
#
# Usage: commits.sh [--repo <folder>] [--range <range>] [--limit <n>] [--merges]
#
#   --repo <folder>   the repository (default: .)
#   --range <range>   which commits, such as main..HEAD or v1.0..v1.1 (default: HEAD)
#   --limit <n>       how many commits to list (default: 50)
#   --merges          also list merge commits
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  sed -n '2,9p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'
}

repo=.
range=HEAD
limit=50
merges=(--no-merges)
while [[ $# -gt 0 ]]; do
  case "$1" in
    --repo) repo=${2:?--repo needs a folder}; shift 2 ;;
    --range) range=${2:?--range needs a range}; shift 2 ;;
    --limit) limit=${2:?--limit needs a number}; shift 2 ;;
    --merges) merges=(); shift ;;
    -h | --help) usage; exit 0 ;;
    *) fail "unknown argument $1; see --help" 2 ;;
  esac
done
[[ $limit =~ ^[1-9][0-9]{0,5}$ ]] || fail "--limit $limit is not a whole number above 0" 2
[[ $range != -* ]] || fail "--range $range is not a range of commits" 2

need_repository "$repo"
git_in "$repo" rev-parse --quiet --verify --revs-only "${range##*..}^{commit}" >/dev/null ||
  [[ -z ${range##*..} ]] || fail "there are no commits $range"
git_in "$repo" rev-list --max-count=1 "$range" -- >/dev/null 2>&1 || fail "there are no commits $range"

git_in "$repo" log ${merges[@]+"${merges[@]}"} "--max-count=$limit" --format='%x01%h%x02%ad%x02%aN%x02%s' --date=short \
  --name-only "$range" -- |
  LC_ALL=C awk "$json_functions"'
    function flush() {
      if (!open) return
      printf "%s\n    { \"hash\": %s, \"date\": %s, \"author\": %s, \"subject\": %s, \"files\": %d }", (count++ ? "," : ""), quoted(parts[1]), quoted(parts[2]), quoted(parts[3]), quoted(parts[4]), files
    }
    BEGIN { printf "{\n  \"commits\": [" }
    substr($0, 1, 1) == "\001" { flush(); split(substr($0, 2), parts, "\002"); files = 0; open = 1; next }
    $0 != "" { files += 1 }
    END { flush(); printf "%s],\n  \"shown\": %d\n}\n", count ? "\n  " : "", count }'
