#!/usr/bin/env bash
# Rank the paths of an access log.
set -euo pipefail
LOG_FILE="${1:?Usage: top-paths.sh <log-file> [count]}"
COUNT="${2:-10}"
awk '{ hits[$2]++ } END { for (path in hits) print hits[path], path }' "$LOG_FILE" | sort -k1,1nr -k2 | head -n "$COUNT"
