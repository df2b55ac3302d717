import { skillDocument, testNotes, type NewSkill, type SkillTemplate } from "./skill-template.ts";

/** A Python script with argparse. */
export const pythonTemplate: SkillTemplate = {
  name: "python",
  summary: "a Python script, its parameters declared with argparse",
  firstCall: (file) => `count_lines --file ${file}`,
  render: (skill) => [
    skillDocument(skill, "Needs Python 3.8 or newer, standard library only.", body),
    { path: "scripts/count_lines.py", content: renderScript(skill), executable: true },
    testNotes,
  ],
};

const body = `Say in one or two sentences what this skill is for.

## What to do

Run the script and quote its answer, which is JSON:

\`\`\`sh
python3 scripts/count_lines.py notes.txt
python3 scripts/count_lines.py notes.txt --contains milk --format text
\`\`\`

Exit code 1 means that the file cannot be read; the message on standard error says why.
`;

const renderScript = ({ name }: NewSkill): string => `#!/usr/bin/env python3
"""Count the lines of a text file. Replace this with what ${name} does."""

import argparse
import json
import sys
from pathlib import Path


def count_lines(path, contains):
    """How many lines a file has, and how many of them contain a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {"lines": len(lines), "matching": sum(1 for line in lines if contains in line)}


def main():
    # Each argument becomes a parameter of the tool: its type, choices, default and help are read from here.
    parser = argparse.ArgumentParser(description="Count the lines of a text file.")
    parser.add_argument("file", type=Path, help="the text file")
    parser.add_argument("--contains", default="", metavar="TEXT", help="also count the lines that contain this")
    parser.add_argument("--format", choices=["json", "text"], default="json", help="how to answer")
    args = parser.parse_args()

    try:
        answer = count_lines(args.file, args.contains)
    except (OSError, UnicodeError) as error:
        print(f"count_lines: {args.file}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer) if args.format == "json" else f"{answer['matching']} of {answer['lines']} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
`;
