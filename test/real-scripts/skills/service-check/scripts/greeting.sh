#!/usr/bin/env bash
# Greet the owner of the service.
echo "Hello ${SERVICE_OWNER:-stranger}, it runs on $(uname -s)."
