#!/usr/bin/env bash
# Count the words of each page below this directory.
set -euo pipefail
: > counts.tsv
find . -name '*.md' -not -path './.*' | sort | while IFS= read -r page; do
  printf '%s\t%s\n' "${page#./}" "$(wc -w < "$page" | tr -d ' ')" >> counts.tsv
done
cat counts.tsv
