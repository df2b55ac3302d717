#!/usr/bin/env bash
# Keep a copy of a file beside it.
# Usage: snapshot.sh <file>
set -e
file="$1"
test -n "$file" || { echo "Usage: snapshot.sh <file>"; exit 1; }
cp "$file" "$file.bak"
echo "Snapshot: $(basename "$file").bak"
