#!/usr/bin/env python3
"""Write a Markdown report of the numbers in a JSON file."""
import json
import sys
from pathlib import Path

from formatting import table

if len(sys.argv) < 2:
    print("Usage: python build.py <metrics.json> [title]")
    sys.exit(1)

metrics = json.loads(Path(sys.argv[1]).read_text())
title = sys.argv[2] if len(sys.argv) > 2 else "Report"
report = f"# {title}\n\n{table(sorted(metrics.items()))}\n"
with open("report.md", "w") as f:
    f.write(report)
print("Saved to report.md")
