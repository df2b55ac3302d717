#!/usr/bin/env bash
# Print one value of the JSON document on stdin.
# Usage: get.sh KEY
set -euo pipefail
[ $# -ge 1 ] || { echo "Usage: get.sh KEY" >&2; exit 64; }
jq -r --arg key "$1" '.[$key]'
