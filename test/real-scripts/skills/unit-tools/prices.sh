#!/usr/bin/env bash
# Add up the prices of a list.
# Usage: prices.sh <file> [currency]
set -eu
[ $# -ge 1 ] || { echo "Usage: prices.sh <file> [currency]" >&2; exit 1; }
currency="${2:-EUR}"
total=0
while IFS=' ' read -r name cents; do
  total=$((total + cents))
done < "$1"
printf '%d.%02d %s\n' $((total / 100)) $((total % 100)) "$currency"
