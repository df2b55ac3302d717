#!/usr/bin/env python3
"""Say how files would be called if their names were tidy."""
import argparse
import json
import pathlib
import re

ap = argparse.ArgumentParser()
ap.add_argument("folder", type=pathlib.Path, help="folder with the files")
ap.add_argument("--apply", action="store_true", help="rename them")
ns = ap.parse_args()
plan = {}
for path in sorted(ns.folder.iterdir()):
    tidy = re.sub(r"[^a-z0-9.]+", "-", path.name.lower()).strip("-")
    if tidy != path.name:
        plan[path.name] = tidy
        if ns.apply:
            path.rename(path.with_name(tidy))
print(json.dumps({"applied": ns.apply, "plan": plan}))
