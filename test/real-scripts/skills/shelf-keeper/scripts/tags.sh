#!/usr/bin/env bash
# Collect which notes have which #tag.
# Usage: tags.sh <shelf>
set -eu
shelf=${1%/}
out="$shelf/tags"
mkdir -p "$out"
grep -oH '#[a-z]*' "$shelf"/*.md | sort -u | while IFS=: read -r file tag; do
  basename "$file" >> "$out/${tag#\#}.txt"
done
ls "$out"
