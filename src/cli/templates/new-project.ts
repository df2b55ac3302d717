import { skillDocument, type TemplateFile } from "./skill-template.ts";

/** The configuration of a new project: one tool, with an example that `kitbag test` runs. */
export const configContent = `import { defineTool } from "kitbag";

const greet = defineTool({
  name: "greet",
  description: "Greets a person by name. Use it when the user asks for a greeting.",
  input: {
    type: "object",
    properties: {
      name: { type: "string", description: "Who is greeted" },
      loud: { type: "boolean", default: false, description: "In capital letters" },
    },
    required: ["name"],
  } as const,
  annotations: { readOnly: true },
  examples: [{ input: { name: "Ada" }, output: "Hello, Ada!" }],
  run: ({ name, loud }) => {
    const text = \`Hello, \${name}!\`;
    return loud === true ? text.toUpperCase() : text;
  },
});

// The options of createWorkspace. The skills of this project are in .kitbag/skills.
export default { tools: [greet], limits: { limitMs: 30_000 } };
`;

/** The name of the skill of a new project. */
export const skillName = "word-counter";

const body = `Counts words, so that you do not have to.

## What to do

1. Count with the script, and quote its answer. It reads a text, or a file:

   \`\`\`sh
   node scripts/count-words.mjs --text "to be or not to be"
   \`\`\`

2. Tell the user the number of words, and how many of them are different.
`;

const script = `#!/usr/bin/env node
// Count the words of a text, or of a file.
//
// Usage: count-words.mjs [--text <text>] [--file <path>]
//
//   --text <text>  the text
//   --file <path>  a file with the text
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { text: { type: "string" }, file: { type: "string" } } });
if (values.text === undefined && values.file === undefined) {
  process.stderr.write("count-words: give --text or --file\\n");
  process.exit(2);
}
const text = values.text ?? readFileSync(values.file, "utf8");
const words = text.toLowerCase().match(/[\\p{L}\\p{N}'’-]+/gu) ?? [];
console.log(JSON.stringify({ words: words.length, different: new Set(words).size }));
`;

const manifest = `# What the script may touch. Everything that is not listed is denied; a file that you name in a call is granted to that call.

[permissions]

# \`kitbag test\` runs this, beside the commands in SKILL.md.

[[tests]]
tool = "count-words"
input = { text = "to be or not to be" }
output = '{"words":6,"different":4}'
`;

/** The skill of a new project: instructions, a script, a manifest with a test. */
export const skillFiles: readonly TemplateFile[] = [
  skillDocument(
    {
      name: skillName,
      title: "Word counter",
      description: "Counts the words of a text or a file. Use it when the user asks how long a text is.",
    },
    "Needs Node.js 20 or newer, no packages.",
    body,
  ),
  { path: "scripts/count-words.mjs", content: script, executable: true },
  { path: "kitbag.toml", content: manifest },
];
