import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** How large the tree is. */
export interface TreeSize {
  readonly skills: number;
  /** In all skills together, spread evenly. */
  readonly scripts: number;
  /** Of the body of each SKILL.md, about 330 bytes each. @default 12 */
  readonly sections?: number;
}

/**
 * Writes a tree of skills that looks like the public ones: a body of about 4 kB, three fifths of the scripts in Python with
 * argparse, the rest in shell and JavaScript, no two files alike. The same size gives the same bytes.
 */
export function writeSkillTree(folder: string, { skills, scripts, sections = 12 }: TreeSize): void {
  for (let index = 0; index < skills; index += 1) {
    const first = Math.floor((index * scripts) / skills);
    const last = Math.floor(((index + 1) * scripts) / skills);
    const numbers = Array.from({ length: last - first }, (_, offset) => first + offset);
    for (const [path, text] of Object.entries(skillFiles(index, numbers, sections)))
      writeText(join(folder, path), text);
  }
}

function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function skillFiles(index: number, numbers: readonly number[], sections: number): Record<string, string> {
  const name = `skill-${String(index).padStart(5, "0")}`;
  const programs = numbers.map((number) => renderProgram(number));
  return {
    [`${name}/SKILL.md`]: renderDocument({ name, index, programs, sections }),
    [`${name}/references/guide.md`]: `# Guide of ${name}\n\n${"Look at the input before you change it.\n".repeat(20)}`,
    ...Object.fromEntries(programs.map(({ file, text }) => [`${name}/scripts/${file}`, text])),
  };
}

interface Program {
  readonly file: string;
  readonly text: string;
  readonly call: string;
}

interface DocumentParts {
  readonly name: string;
  readonly index: number;
  readonly programs: readonly Program[];
  readonly sections: number;
}

function renderDocument({ name, index, programs, sections: count }: DocumentParts): string {
  const calls = programs.map(({ file, call }) => `\`\`\`bash\n${call.replace(file, `scripts/${file}`)}\n\`\`\``);
  const sections = Array.from(
    { length: count },
    (_, section) => `## Step ${section + 1}

Read the files that the person named, in the order in which they were named, and note what is odd about each of them (${index}).
Never change a file in place: write the result beside it, compare both, and tell the person what became of number ${section}.
`,
  );
  return `---
name: ${name}
description: Converts, checks and merges documents of kind ${index}. Use it when somebody asks for a report about them or names a file that ends in .x${index}.
license: MIT
metadata:
  author: example-${index % 50}
  version: "1.${index % 10}.0"
---

# ${name}

${calls.join("\n\n")}

${sections.join("\n")}`;
}

function renderProgram(number: number): Program {
  const kind = number % 10;
  if (kind < 6) return renderPython(number);
  return kind < 8 ? renderShell(number) : renderJavaScript(number);
}

function renderPython(number: number): Program {
  const file = `convert_${number}.py`;
  const steps = Array.from(
    { length: 12 },
    (_, step) => `
def step_${step}(rows, limit=${number % 97}):
    """Keeps what is useful of the rows."""
    kept = [row for row in rows if len(row) > limit + ${step}]
    return kept or rows
`,
  );
  return {
    file,
    call: `python ${file} input-${number}.csv --format json --limit 10`,
    text: `#!/usr/bin/env python3
"""Converts tables of kind ${number} into another format."""
import argparse
import json
import os
import sys
${steps.join("\n")}

def main():
    parser = argparse.ArgumentParser(description="Converts tables of kind ${number}")
    parser.add_argument("source", help="The table to read")
    parser.add_argument("--format", choices=["json", "csv", "text"], default="json", help="What to write")
    parser.add_argument("--limit", type=int, default=${number % 1000}, help="How many rows at most")
    parser.add_argument("--column", action="append", help="A column to keep; all if none is named")
    parser.add_argument("--verbose", action="store_true", help="Say what is done")
    args = parser.parse_args()
    with open(args.source) as source:
        rows = source.read().splitlines()[: args.limit]
    json.dump({"rows": rows, "home": os.environ.get("REPORT_HOME_${number % 20}")}, sys.stdout)


if __name__ == "__main__":
    main()
`,
  };
}

function renderShell(number: number): Program {
  const file = `collect-${number}.sh`;
  return {
    file,
    call: `bash ${file} --target out-${number} --dry-run`,
    text: `#!/usr/bin/env bash
# Collects the files of kind ${number}.
# Usage: ${file} --target <folder> [--depth <number>] [--dry-run]
set -euo pipefail
target=""
depth=${(number % 5) + 1}
dry_run=0
while [[ $# -gt 0 ]]; do
  case "$1" in
    --target) target="$2"; shift 2 ;;
    --depth) depth="$2"; shift 2 ;;
    --dry-run) dry_run=1; shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
${Array.from({ length: 15 }, (_, line) => `echo "step ${line} of ${number}" >&2`).join("\n")}
find . -maxdepth "$depth" -name "*.x${number}" | while read -r file; do
  if [[ "$dry_run" == 1 ]]; then echo "$file"; else cp "$file" "$target"; fi
done
`,
  };
}

function renderJavaScript(number: number): Program {
  const file = `render-${number}.mjs`;
  return {
    file,
    call: `node ${file} --title "Report ${number}" --width 80`,
    text: `#!/usr/bin/env node
// Renders the report of kind ${number}.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    title: { type: "string", short: "t", default: "Report ${number}" },
    width: { type: "string" },
    plain: { type: "boolean", default: false },
  },
});
${Array.from({ length: 12 }, (_, line) => `const part${line} = (text) => text.padStart(${line + (number % 7)});`).join("\n")}
const rows = positionals.flatMap((file) => readFileSync(file, "utf8").split("\\n"));
console.log(values.title);
for (const row of rows) console.log(values.plain ? row : part${number % 12}(row).slice(0, Number(values.width ?? 80)));
`,
  };
}
