#!/usr/bin/env bash
# Count how often each line occurs, most frequent first.
set -euo pipefail
sort | uniq -c | sort -k1,1nr -k2 | sed -E 's/^ +//'
