#!/usr/bin/env bash
# Turns a list of commits into a section of a changelog.
# Usage: git log --oneline | changelog.sh VERSION
version=${1:?version missing}
echo "## $version"
while read -r hash subject; do
  [ -n "$hash" ] && echo "- $subject ($hash)"
done
exit 0
