#!/bin/sh
# Unpack each .gz file of a folder where it is.
# Usage: unpack_all.sh FOLDER
[ -d "$1" ] || { echo "no folder: $1" >&2; exit 1; }
cd "$1" || exit 1
for file in *.gz; do
  gzip -d "$file" && echo "unpacked $file"
done
