#!/usr/bin/env python3
"""Count the commits of each author."""
import json
import subprocess
from collections import Counter

log = subprocess.run(["git", "log", "--format=%an"], capture_output=True, text=True, check=True).stdout
print(json.dumps(Counter(log.split("\n")[:-1])))
