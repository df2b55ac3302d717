#!/bin/bash
# Show the last errors of a log file.
#
# Usage: errors.sh -f FILE [-n COUNT]
#   -f FILE   log file
#   -n COUNT  how many lines (default 10)
file=""
count=10
while getopts "f:n:h" option; do
  case "$option" in
    f) file="$OPTARG" ;;
    n) count="$OPTARG" ;;
    *) echo "Usage: errors.sh -f FILE [-n COUNT]" >&2; exit 2 ;;
  esac
done
[ -n "$file" ] || { echo "Usage: errors.sh -f FILE [-n COUNT]" >&2; exit 2; }
grep -n 'ERROR' < "$file" | tail -n "$count"
