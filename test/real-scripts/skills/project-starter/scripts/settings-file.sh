#!/usr/bin/env bash
# Make a settings file from a template.
# Usage: settings-file.sh <template> <output>
set -euo pipefail
template="${1:?Usage: settings-file.sh <template> <output>}"
output="${2:?Usage: settings-file.sh <template> <output>}"
sed -e 's/{{port}}/8080/' -e 's/{{host}}/localhost/' "$template" > "$output"
echo "Created $output with $(grep -c = "$output") settings"
