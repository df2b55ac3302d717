#!/usr/bin/env bash
# Show what is different between two files.
# Usage: compare.sh <old> <new>
[ $# -eq 2 ] || { echo "Usage: compare.sh <old> <new>" >&2; exit 2; }
diff "$1" "$2" | grep '^[<>]' || echo "no difference"
