#!/usr/bin/env python3
"""
Make the folder of a new skill.

Usage:
    init_skill.py <skill-name> --path <path>
"""
import sys
from pathlib import Path

TEMPLATE = """---
name: {name}
description: Say what it does
---

# {title}
"""


def init_skill(name, path):
    folder = Path(path).resolve() / name
    if folder.exists():
        print(f"[ERROR] there is such a folder: {folder}")
        return None
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEMPLATE.format(name=name, title=name.replace("-", " ").title()))
    (folder / "scripts").mkdir()
    (folder / "scripts" / "example.py").write_text('print("hello")\n')
    print(f"[OK] Created skill directory: {folder}")
    return folder


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--path":
        print("Usage: init_skill.py <skill-name> --path <path>")
        sys.exit(1)
    sys.exit(0 if init_skill(sys.argv[1], sys.argv[3]) else 1)


if __name__ == "__main__":
    main()
