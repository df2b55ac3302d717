#!/usr/bin/env bash
# Hide the values of some keys of an INI file.
#
# Usage: redact.sh [-k key,key] [file]
#   -k  keys to hide (default: password)
#   file  what to read; without it, standard input
keys=password
while getopts "k:" opt; do
  case "$opt" in
    k) keys="$OPTARG" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
sed -E "s/^(${keys//,/|})[[:space:]]*=.*/\1 = ***/" "$@"
