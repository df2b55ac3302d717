import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Project } from "../run-kitbag.ts";

/** Modules with tools, for projects of tests; each is the text of one. */
const add = `const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  annotations: { readOnly: true },
  run: ({ a, b }) => a + b,
});`;

/** One tool beside `add`. It notes what it is called with in a file, a line for each call. */
export interface NotingTool {
  readonly name: string;
  readonly description: string;
  /** Its one parameter. */
  readonly parameter: string;
  /** What it did: the first word of its output, and the file in the working directory. */
  readonly done: string;
  readonly needsApproval?: boolean;
}

/** A module with `add` and a tool that leaves a trace of each call. */
export function toToolModule({ name, description, parameter, done, needsApproval = false }: NotingTool): string {
  const input = { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] };
  return `
import { appendFileSync } from "node:fs";
import { defineTool } from "kitbag";

${add}
const other = defineTool({
  name: "${name}",
  description: "${description}",
  input: ${JSON.stringify(input)},
  needsApproval: ${needsApproval},
  run(input) {
    appendFileSync("${done}", input.${parameter} + "\\n");
    return "${done} " + input.${parameter};
  },
});
export default [add, other];
`;
}

/** What such a tool left in a project: what it was called with, in order. */
export function readLines({ folder }: Project, done: string): readonly string[] {
  return readFileSync(join(folder, done), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}
