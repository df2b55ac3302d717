#!/usr/bin/env bash
# Write the lines of each day to a file of its own in the current directory.
# Usage: split-days.sh <log-file>
set -euo pipefail
input="${1:?Usage: split-days.sh <log-file>}"
while read -r line; do
  day="${line:0:10}"
  printf '%s\n' "$line" >> "day-$day.log"
done < "$input"
for part in day-*.log; do
  echo "$part $(wc -l < "$part" | tr -d ' ')"
done
