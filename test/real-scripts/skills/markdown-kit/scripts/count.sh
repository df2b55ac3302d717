#!/usr/bin/env bash
# Count the words of Markdown files.
# Usage: count.sh <file>...
[ $# -gt 0 ] || { echo "Usage: count.sh <file>..." >&2; exit 1; }
for file in "$@"; do
  printf '%s\t%s\n' "$(wc -w < "$file" | tr -d ' ')" "$(basename "$file")"
done
