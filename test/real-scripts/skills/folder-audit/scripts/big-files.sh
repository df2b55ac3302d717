#!/bin/bash
# List files of a directory that are larger than a limit.
# Usage: big-files.sh <directory> [bytes]
dir="$1"
limit="${2:-1000}"
if [ -z "$dir" ] || [ ! -d "$dir" ]; then
  echo "Usage: big-files.sh <directory> [bytes]" >&2
  exit 1
fi
find "$dir" -type f -size +"${limit}c" -exec basename {} \; | sort
