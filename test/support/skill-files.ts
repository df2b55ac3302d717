/** What a small skill says about itself. */
export interface SkillText {
  readonly name?: string;
  readonly description?: string;
  readonly body?: string;
}

/** The files of a small skill, by path; `folder` is where it is in the project. */
export function skillFiles(folder: string, text: SkillText = {}): Record<string, string> {
  const name = text.name ?? folder.split("/").at(-1) ?? "";
  const { description = `Does what ${name} does`, body = "Do it.\n" } = text;
  return { [`${folder}/SKILL.md`]: `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}` };
}

/** A manifest with one tool that runs here, and one that needs a runtime for scripts. */
export const toolManifest: string = `
[permissions]
read = ["."]

[[tools]]
name = "twice"
kind = "pipeline"
description = "Says a text twice"
input = { type = "object", properties = { text = { type = "string", description = "what to say" } }, required = ["text"] }
steps = [{ id = "first", tool = "say", args = { text = "$input.text" } }]

[[tools]]
name = "print"
kind = "script"
description = "Prints a text"
file = "scripts/print.py"
interpreter = "python3"
input = { type = "object", properties = { text = { type = "string" }, copies = { type = "integer", default = 1 } }, required = ["text"] }
`;

/** A Python script as public skills have them: parameters declared with argparse, and nothing for Kitbag. */
export const argparseScript: string = `#!/usr/bin/env python3
"""Shorten a text file."""
import argparse
import os
import requests

def main():
    parser = argparse.ArgumentParser(description="Shorten a text file.")
    parser.add_argument("file", help="the text file")
    parser.add_argument("--lines", type=int, default=10, help="how many lines to keep")
    parser.add_argument("--mode", choices=["head", "tail"], default="head", help="which end")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    token = os.environ["SHORTEN_TOKEN"]
    requests.get("https://api.example.com", headers={"x": token})
    print(args)

if __name__ == "__main__":
    main()
`;
