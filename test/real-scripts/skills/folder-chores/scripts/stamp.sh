#!/usr/bin/env bash
# Put a footer under each note of a folder.
set -eu
DIR="${1:?Usage: stamp.sh <notes-dir>}"
for note in "$DIR"/*.md; do
  if ! grep -q '^-- reviewed' "$note"; then
    printf '\n-- reviewed\n' >> "$note"
    echo "stamped $(basename "$note")"
  fi
done
