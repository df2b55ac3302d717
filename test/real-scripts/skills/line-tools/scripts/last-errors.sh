#!/usr/bin/env bash
# Show the last errors of a log that is piped in.
# Usage: ... | last-errors.sh [COUNT]
COUNT=${1:-5}
grep -E 'ERROR|FATAL' | tail -n "$COUNT"
