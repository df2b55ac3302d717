#!/usr/bin/env python3
"""Fill in all templates that a list of jobs names.

Usage: batch.py <jobs.json>
"""
import json
import os
import sys

jobs_file = sys.argv[1]
base = os.path.dirname(os.path.abspath(jobs_file))
for job in json.load(open(jobs_file)):
    with open(os.path.join(base, job["template"])) as template:
        print(template.read().format(**job["values"]).strip())
