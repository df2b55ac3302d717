#!/usr/bin/env bash
# Says whether the command in {"command": "..."} on standard input is dangerous.
command=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["command"])')
case "$command" in
  *"rm -rf"*|*"mkfs"*) verdict=dangerous ;;
  *) verdict=harmless ;;
esac
printf '{"verdict": "%s"}\n' "$verdict"
