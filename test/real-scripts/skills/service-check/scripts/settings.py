#!/usr/bin/env python3
"""Print the settings of the environment."""
import json
import os

print(json.dumps({"host": os.environ.get("SERVICE_HOST", "localhost"), "port": int(os.getenv("SERVICE_PORT", "80"))}))
