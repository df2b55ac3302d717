#!/bin/sh
# Pack a folder into <folder>-backup.tar.
# usage: backup.sh FOLDER
set -e
folder=${1:?usage: backup.sh FOLDER}
tar -cf "${folder%/}-backup.tar" --sort=name --mtime=@0 --owner=0 --group=0 "$folder"
echo "packed $(find "$folder" -type f | wc -l | tr -d ' ') files"
