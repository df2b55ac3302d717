#!/usr/bin/env bash
# Summarise a period of a git repository: commits, authors, lines and files, as JSON.
#
# Usage: summary.sh [--repo <folder>] [--since <date>] [--until <date>] [--author <text>] [--branch <name>]
#
#   --repo <folder>   the repository (default: .)
#   --since <date>    only commits after this date, such as 2024-05-01 or "2 weeks ago"
#   --until <date>    only commits before this date
#   --author <text>   only commits of authors whose name or address contains this
#   --branch <name>   the branch, tag or commit to start from (default: HEAD)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  sed -n '2,10p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//'
}

repo=.
since=
until=
author=
branch=HEAD
while [[ $# -gt 0 ]]; do
  case "$1" in
    --repo) repo=${2:?--repo needs a folder}; shift 2 ;;
    --since) since=${2:?--since needs a date}; shift 2 ;;
    --until) until=${2:?--until needs a date}; shift 2 ;;
    --author) author=${2:?--author needs a text}; shift 2 ;;
    --branch) branch=${2:?--branch needs a name}; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) fail "unknown argument $1; see --help" 2 ;;
  esac
done

need_repository "$repo"
git_in "$repo" rev-parse --verify --quiet "$branch^{commit}" >/dev/null || fail "there is no branch or commit $branch"

filters=(--no-merges)
[[ -z $since ]] || filters+=("--since=$since")
[[ -z $until ]] || filters+=("--until=$until")
[[ -z $author ]] || filters+=("--fixed-strings" "--regexp-ignore-case" "--author=$author")

git_in "$repo" log "${filters[@]}" --format='%x01%h%x02%aN%x02%ad' --date=short --numstat "$branch" -- |
  LC_ALL=C awk "$json_functions"'
    BEGIN { RS = "\n" }
    substr($0, 1, 1) == "\001" {
      split(substr($0, 2), parts, "\002")
      author = parts[2]
      commits += 1
      by_author[author] += 1
      last = last == "" ? parts[3] : last
      first = parts[3]
      next
    }
    NF >= 3 {
      split($0, cells, "\t")
      if (cells[1] != "-") { added += cells[1]; removed += cells[2] }
      if (!(cells[3] in seen)) { seen[cells[3]] = 1; files += 1 }
    }
    END {
      printf "{\n  \"commits\": %d,\n  \"first\": %s,\n  \"last\": %s,\n", commits, commits ? quoted(first) : "null", commits ? quoted(last) : "null"
      printf "  \"files\": %d,\n  \"added\": %d,\n  \"removed\": %d,\n  \"authors\": [", files, added, removed
      count = 0
      for (name in by_author) names[++count] = name
      for (i = 2; i <= count; i++) {
        name = names[i]
        for (j = i - 1; j > 0 && (by_author[names[j]] < by_author[name] || (by_author[names[j]] == by_author[name] && names[j] > name)); j--) names[j + 1] = names[j]
        names[j + 1] = name
      }
      for (i = 1; i <= count; i++) printf "%s\n    { \"name\": %s, \"commits\": %d }", (i > 1 ? "," : ""), quoted(names[i]), by_author[names[i]]
      printf "%s]\n}\n", count ? "\n  " : ""
    }'
