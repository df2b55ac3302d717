#!/bin/sh
# List files of a folder that are larger than so many bytes.
# usage: list_large.sh DIRECTORY [BYTES]
find "$1" -type f -size +"${2:-100}"c | sort | while read -r file; do
  echo "$(wc -c < "$file") $(basename "$file")"
done
