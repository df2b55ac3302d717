#!/usr/bin/env bash
# Sort files with a date in front into folders by month.
set -euo pipefail

usage() {
  echo "Usage: $0 DROP_FOLDER" >&2
  exit 1
}

[[ $# -eq 1 ]] || usage
drop="$1"
for path in "$drop"/20[0-9][0-9]-[0-9][0-9]-*; do
  name=$(basename "$path")
  month="${name:0:7}"
  mkdir -p "$drop/$month"
  mv "$path" "$drop/$month/"
  echo "$name -> $month"
done
