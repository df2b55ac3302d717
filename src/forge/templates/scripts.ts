import type { JsonObject } from "../../core/json.ts";
import { toBash, toJavaScript, toPython, type Filling, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface Script {
  readonly argument: string;
  readonly example: string;
}

const parameters = closed({
  argument: {
    type: "string",
    pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$",
    default: "text",
    description: "The name of its one parameter",
  },
  example: {
    type: "string",
    pattern: "^[^\\u0000]*$",
    maxLength: 10_000,
    default: "one two\nthree",
    description: "A text that it is tried with",
  },
});

const output = {
  type: "object",
  properties: { characters: { type: "integer" }, words: { type: "integer" }, lines: { type: "integer" } },
  required: ["characters", "words", "lines"],
};

function toHead({ name, description, values }: Filling): Omit<ReturnType<ToolTemplate["toDraft"]>, "steps"> {
  const { argument, example } = values as unknown as Script;
  return {
    name,
    description: description ?? "Counts the characters, words and lines of a text.",
    input: closed({ [argument]: { type: "string" } }, [argument]),
    annotations: { readOnly: true, idempotent: true },
    examples: [{ input: { [argument]: example } }, { input: { [argument]: "" } }, { input: { [argument]: "a b\nc" } }],
  };
}

const counted = { characters: 5, words: 3, lines: 2 };

/** A Python script to start from. */
export const scriptPython: ToolTemplate = {
  name: "script-python",
  makes: "tool",
  description: "A Python script to start from: reads JSON, computes, writes JSON; here it counts the words of a text",
  parameters,
  toDraft(filling) {
    const { argument } = filling.values as unknown as Script;
    const head = toHead(filling);
    return {
      ...head,
      language: "python",
      output,
      examples: withOutput(head.examples),
      code: String.raw`import json
import sys

ARGUMENT = ${toPython(argument)}


def run(text):
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}


arguments = json.load(sys.stdin)
print(json.dumps(run(arguments[ARGUMENT])))
`,
    };
  },
};

/** A Node.js script to start from. */
export const scriptNode: ToolTemplate = {
  name: "script-node",
  makes: "tool",
  description:
    "A JavaScript script for Node.js to start from: reads JSON, computes, writes JSON; here it counts the words of a text",
  parameters,
  toDraft(filling) {
    const { argument } = filling.values as unknown as Script;
    const head = toHead(filling);
    return {
      ...head,
      language: "javascript",
      output,
      examples: withOutput(head.examples),
      code: String.raw`const { readFileSync } = require("node:fs");

const argument = ${toJavaScript(argument)};

function run(text) {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  const lines = text === "" ? [] : text.replace(/\r?\n$/u, "").split(/\r?\n/u);
  return { characters: [...text].length, words: words.length, lines: lines.length };
}

const input = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(run(input[argument])));
`,
    };
  },
};

const noControls = String.raw`^[^\u0000-\u001F\u007F]*$`;

/** A shell script to start from. */
export const scriptBash: ToolTemplate = {
  name: "script-bash",
  makes: "tool",
  description:
    "A Bash shell script to start from: gets its input as JSON on standard input and prints text; here it counts the bytes of its input",
  parameters: closed({
    ...(parameters["properties"] as JsonObject),
    label: {
      type: "string",
      pattern: noControls,
      maxLength: 200,
      default: "bytes of input",
      description: "What it says after the number",
    },
  }),
  toDraft(filling) {
    const { argument, example, label } = filling.values as unknown as Script & { readonly label: string };
    const toText = (text: string): string =>
      `${Buffer.byteLength(JSON.stringify({ [argument]: text }))} ${label}`.trim();
    return {
      ...toHead(filling),
      description: filling.description ?? "Counts the bytes of its input, as JSON.",
      language: "bash",
      examples: [example, ""].map((text) => ({ input: { [argument]: text }, output: toText(text) })),
      code: String.raw`set -euo pipefail

label=${toBash(label)}
# The whole input, as JSON. To take it apart, use a program such as jq and ask for the permission to run it.
input=$(cat)

bytes=$(printf '%s' "$input" | LC_ALL=C wc -c)
printf '%d %s\n' "$bytes" "$label"
`,
    };
  },
};

/** The last example has a text whose counts are known. */
function withOutput(examples: ReturnType<typeof toHead>["examples"]): ReturnType<typeof toHead>["examples"] {
  return examples.map((one, index) => (index === examples.length - 1 ? { ...one, output: counted } : one));
}
