#!/usr/bin/env bash
# Find the files that change most often in a git repository, as JSON.
#
# Usage: hotspots.sh [--repo <folder>] [--since <date>] [--limit <n>]
#
#   --repo <folder>   the repository (default: .)
#   --since <date>    only commits after this date (default: 6 months ago)
#   --limit <n>       how many files to list (default: 20)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  sed -n '2,8p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'
}

repo=.
since='6 months ago'
limit=20
while [[ $# -gt 0 ]]; do
  case "$1" in
    --repo) repo=${2:?--repo needs a folder}; shift 2 ;;
    --since) since=${2:?--since needs a date}; shift 2 ;;
    --limit) limit=${2:?--limit needs a number}; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) fail "unknown argument $1; see --help" 2 ;;
  esac
done
[[ $limit =~ ^[1-9][0-9]{0,5}$ ]] || fail "--limit $limit is not a whole number above 0" 2

need_repository "$repo"

git_in "$repo" log --no-merges --no-renames "--since=$since" --format='%x01%aE' --numstat HEAD -- |
  LC_ALL=C awk '
    substr($0, 1, 1) == "\001" { author = substr($0, 2); next }
    NF >= 3 {
      split($0, cells, "\t")
      file = cells[3]
      changes[file] += 1
      if (cells[1] != "-") lines[file] += cells[1] + cells[2]
      if (!((file, author) in known)) { known[file, author] = 1; authors[file] += 1 }
    }
    END { for (file in changes) printf "%d\t%d\t%d\t%s\n", changes[file], authors[file], lines[file], file }' |
  LC_ALL=C sort -t $'\t' -k1,1nr -k3,3nr -k4 |
  LC_ALL=C awk -F '\t' -v limit="$limit" "$json_functions"'
    BEGIN { printf "{\n  \"files\": [" }
    NR <= limit {
      printf "%s\n    { \"file\": %s, \"changes\": %d, \"authors\": %d, \"lines\": %d }", (NR > 1 ? "," : ""), quoted($4), $1, $2, $3
    }
    END { printf "%s],\n  \"changed_files\": %d\n}\n", (NR ? "\n  " : ""), NR }'
