#!/usr/bin/env bash
# Break the lines of standard input.
# Usage: wrap.sh [width]
width="${1:-72}"
fold -s -w "$width" | sed 's/ *$//'
