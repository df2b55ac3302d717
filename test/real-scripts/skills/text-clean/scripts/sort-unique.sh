#!/bin/sh
# Sort lines and drop the ones that are there twice.
# Usage: sort-unique.sh <file>   (- reads standard input)
[ $# -eq 1 ] || { echo "Usage: sort-unique.sh <file>" >&2; exit 2; }
cat "$1" | LC_ALL=C sort -u
