#!/usr/bin/env bash
# Lines of a log whose last word, in milliseconds, is above a limit.
# Usage: slow.sh <limit>  < log
limit="$1"
while IFS= read -r line; do
  ms="${line##* }"
  if [[ "$ms" =~ ^[0-9]+$ ]] && (( ms > limit )); then
    echo "$line"
  fi
done
