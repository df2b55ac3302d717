/** A skill repository is added, and its scripts are called with files: on the command line, and by Claude Code through the Agent SDK. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { needProgram } from "../support/need-program.ts";
import { createProject, type Project, runKitbag } from "../run-kitbag.ts";
import { runClaude, type SeenClaude } from "./agents.ts";
import { serveFor } from "./drive-client.ts";
import { needClients } from "./need-clients.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag add takes a skill repository with one yes, and its scripts are called with files", async (context) => {
  for (const needed of ["python3", "bash"]) needProgram(context, needed);
  const project = createProject(repository);

  const added = await runKitbag(["add", "repository", "--yes"], { project });
  const totals = await runKitbag(["call", "sales/totals", "--", "data/sales.csv"], { project });
  const lines = await runKitbag(["call", "sales/lines", "--file", "data/sales.csv"], { project });
  const report = await runKitbag(
    ["call", "sales/report", "--input", "data/sales.csv", "--output", "report.md", "--title", "Sales"],
    { project },
  );

  expect(added, added.stderr).toMatchObject({ code: 0 });
  expect(totals).toMatchObject({ code: 0, stdout: '{"north": 5, "south": 2}\n' });
  expect(lines, lines.stderr).toMatchObject({ code: 0, stdout: "4\n" });
  expect(report, report.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(join(project.folder, "report.md"), "utf8")).toBe("# Sales\n\n- north: 5\n- south: 2\n");
});

test("Claude Code calls the scripts of an added skill with files, and a person agrees to what one writes", async (context) => {
  needClients(context);
  const project = await addRepository();
  const questions: string[] = [];

  const { log, asked } = await askClaude(project, (question) => {
    questions.push(question);
    return Promise.resolve({ action: "accept", content: { approve: true } });
  });

  expect(asked).toEqual([
    "mcp__kitbag__activate_skill",
    "mcp__kitbag__sales__totals",
    "mcp__kitbag__sales__lines",
    "mcp__kitbag__sales__report",
    "mcp__kitbag__sales__report",
    "mcp__kitbag__sales__totals",
  ]);
  expect(log.results[1]).toContain(String.raw`{\"north\": 5, \"south\": 2}`);
  expect(log.results[2]).toMatch(/"4(?:\\n)?"/u);
  expect(questions).toHaveLength(2);
  expect(questions[0]).toContain("Why you are asked: it asks to write report.md");
  expect(questions[1]).toContain("Why you are asked: it asks to overwrite report.md");
  expect(readFileSync(join(project.folder, "report.md"), "utf8")).toBe("# Again\n\n- north: 5\n- south: 2\n");
  expect(readFileSync(join(project.folder, "report.md.bak"), "utf8")).toContain("# Sales\n");
  // A model names no hidden file.
  expect(log.results[5]).toContain("a model never names such a file");
});

test("Claude Code writes no file where the person says no", async (context) => {
  needClients(context);
  const project = await addRepository();

  const { log } = await askClaude(project, () => Promise.resolve({ action: "decline" }));

  expect(log.results[1]).toContain("north");
  expect(log.results[3]).toMatch(/the person at the client said no; the question was: it asks to write report\.md/u);
  expect(existsSync(join(project.folder, "report.md"))).toBe(false);
});

test("Claude Code hears which command lets a tool write where no person can be asked", async (context) => {
  needClients(context);
  const project = await addRepository();

  const before = await askClaude(project);
  const granted = await runKitbag(["grant", "sales", "--write", "."], { project });
  const after = await askClaude(project);

  expect(before.log.results[3]).toContain("kitbag grant sales --write report.md");
  expect(granted, granted.stderr).toMatchObject({ code: 0 });
  expect(after.log.results[3]).toContain("wrote");
  expect(readdirSync(project.folder)).toContain("report.md");
});

async function addRepository(): Promise<Project> {
  const project = createProject({ ...repository, ".env": "TOKEN=secret\n" });
  const added = await runKitbag(["add", "repository", "--yes"], { project });
  expect(added, added.stderr).toMatchObject({ code: 0 });
  return project;
}

async function askClaude(project: Project, answer?: (question: string) => Promise<object>): Promise<SeenClaude> {
  const { reach } = await serveFor(project, "stdio", []);
  return runClaude({
    project,
    reach,
    steps: [
      ["mcp__kitbag__activate_skill", { name: "sales" }],
      ["mcp__kitbag__sales__totals", { csv: "data/sales.csv" }],
      ["mcp__kitbag__sales__lines", { file: "data/sales.csv" }],
      ["mcp__kitbag__sales__report", { input: "data/sales.csv", output: "report.md", title: "Sales" }],
      ["mcp__kitbag__sales__report", { input: "data/sales.csv", output: "report.md", title: "Again" }],
      ["mcp__kitbag__sales__totals", { csv: ".env" }],
    ],
    ...(answer !== undefined && { onElicitation: ({ message }) => answer(message) }),
  });
}

/** As people publish them: no manifest, and what the scripts take is said by their code. */
const repository = {
  "data/sales.csv": "region,amount\nnorth,2\nsouth,2\nnorth,3\n",
  "repository/README.md": "# Skills\n",
  "repository/skills/sales/SKILL.md":
    "---\nname: sales\ndescription: Sums up sales in CSV files. Use it for questions about sales.\n---\n\n# Sales\n\nRun `python scripts/totals.py FILE` for the totals, `scripts/lines.sh FILE` for the number of lines.\n",
  "repository/skills/sales/scripts/totals.py": `"""Prints the totals of each region as JSON."""
import argparse, csv, json
from collections import Counter

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("csv", help="Path to the CSV file")
args = parser.parse_args()
totals = Counter()
with open(args.csv, newline="") as lines:
    for row in csv.DictReader(lines):
        totals[row["region"]] += int(row["amount"])
print(json.dumps(totals))
`,
  "repository/skills/sales/scripts/lines.sh": `#!/usr/bin/env bash
# Counts the lines of a file.
# Usage: lines.sh <file>
set -euo pipefail
file="\${1:?usage: lines.sh <file>}"
wc -l < "$file" | tr -d ' '
`,
  "repository/skills/sales/scripts/report.py": `"""Writes a report about a CSV file."""
import argparse, csv
from collections import Counter
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--input", required=True, help="CSV file to read")
parser.add_argument("--output", "-o", required=True, help="Markdown file to write")
parser.add_argument("--title", default="Report")
args = parser.parse_args()
totals = Counter()
with open(args.input, newline="") as lines:
    for row in csv.DictReader(lines):
        totals[row["region"]] += int(row["amount"])
text = "\\n".join(f"- {name}: {count}" for name, count in totals.items())
Path(args.output).write_text(f"# {args.title}\\n\\n{text}\\n")
print("wrote", args.output)
`,
};
