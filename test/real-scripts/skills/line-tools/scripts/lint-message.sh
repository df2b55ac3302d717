#!/usr/bin/env bash
# Check a commit message: short subject, blank second line.
message="$(cat)"
subject="${message%%$'\n'*}"
problems=0
if (( ${#subject} > 50 )); then echo "subject has ${#subject} characters"; problems=1; fi
if [[ "$subject" == *. ]]; then echo "subject ends with a full stop"; problems=1; fi
(( problems )) || echo "ok"
