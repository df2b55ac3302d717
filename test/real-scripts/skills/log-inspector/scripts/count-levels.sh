#!/usr/bin/env bash
# Count the lines of each level in a log file.
# Usage: count-levels.sh <log-file>
set -euo pipefail

if [[ $# -lt 1 ]]; then
  echo "Usage: count-levels.sh <log-file>" >&2
  exit 1
fi
if [[ ! -f "$1" ]]; then
  echo "Error: $1 not found" >&2
  exit 1
fi
grep -oE '\b(DEBUG|INFO|WARN|ERROR)\b' "$1" | sort | uniq -c | awk '{ print $2 ": " $1 }'
