#!/usr/bin/env bash
# Put several log files into one, with a headline for each.
# Usage: bundle.sh [--out <file>] [--quiet] <log-file>...
set -euo pipefail
out="bundle.txt"
quiet=0
files=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --out) out="$2"; shift 2 ;;
    --quiet) quiet=1; shift ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) files+=("$1"); shift ;;
  esac
done
: > "$out"
for file in "${files[@]}"; do
  printf '==> %s <==\n' "$(basename "$file")" >> "$out"
  cat "$file" >> "$out"
done
[[ $quiet -eq 1 ]] || echo "bundled ${#files[@]} files into $out"
