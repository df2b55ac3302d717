#!/bin/bash
# Print name and version of a package.
# Usage: version.sh <package.json>
jq -r '.name + " " + .version' "$1"
