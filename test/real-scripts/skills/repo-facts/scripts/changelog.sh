#!/usr/bin/env bash
# Print the subjects of the last commits.
# Usage: changelog.sh [count]
set -euo pipefail
count="${1:-10}"
git rev-parse --is-inside-work-tree > /dev/null
git log -n "$count" --format='- %s'
