import { skillDocument, testNotes, type NewSkill, type SkillTemplate } from "./skill-template.ts";

/** A Node script with parseArgs. */
export const nodeTemplate: SkillTemplate = {
  name: "node",
  summary: "a Node.js script, its parameters declared with parseArgs",
  firstCall: (file) => `count-lines --file ${file}`,
  render: (skill) => [
    skillDocument(skill, "Needs Node.js 20 or newer, no packages.", body),
    { path: "scripts/count-lines.mjs", content: renderScript(skill), executable: true },
    testNotes,
  ],
};

const body = `Say in one or two sentences what this skill is for.

## What to do

Run the script and quote its answer, which is JSON:

\`\`\`sh
node scripts/count-lines.mjs --file notes.txt
node scripts/count-lines.mjs --file notes.txt --contains milk
\`\`\`

Exit code 1 means that the file cannot be read; the message on standard error says why.
`;

const renderScript = ({ name }: NewSkill): string => `#!/usr/bin/env node
// Count the lines of a text file. Replace this with what ${name} does.
//
// Usage: count-lines.mjs --file <path> [--contains <text>] [--trim]
//
//   --file <path>      the text file
//   --contains <text>  also count the lines that contain this
//   --trim             leave out lines that are empty
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

try {
  const { values } = parseArgs({
    options: {
      file: { type: "string" },
      contains: { type: "string", default: "" },
      trim: { type: "boolean", default: false },
    },
  });
  if (values.file === undefined) throw new Error("--file is missing");
  const all = readFileSync(values.file, "utf8").split(/\\r?\\n/u);
  const lines = values.trim ? all.filter((line) => line.trim() !== "") : all;
  const matching = lines.filter((line) => line.includes(values.contains)).length;
  process.stdout.write(\`\${JSON.stringify({ lines: lines.length, matching })}\\n\`);
} catch (cause) {
  process.stderr.write(\`count-lines: \${cause.message}\\n\`);
  process.exitCode = 1;
}
`;
