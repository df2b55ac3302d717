#!/bin/sh
# Number the lines of a text.
#
# usage: number.sh [FILE]
awk '{ printf "%3d  %s\n", NR, $0 }' "${1:-/dev/stdin}"
