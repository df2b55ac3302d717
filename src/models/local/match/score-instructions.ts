import type { ModelTool } from "../../model.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { splitName } from "./create-matcher.ts";

/** More of the instructions is not looked at. */
const mostLines = 400;

/** So much can be won by what instructions say. */
const mostBonus = 2.5;

/**
 * What the instructions of a skill add to the score of one of its tools: lines that name the tool (a row of a table, the sentence
 * before a command) say in other words what it is for.
 */
export function scoreInstructions(
  tool: ModelTool,
  { tokens }: Request,
  instructions: ReadonlyMap<string, string>,
): number {
  const [owner, own] = splitName(tool.name);
  const text = own === undefined ? undefined : instructions.get(owner);
  if (text === undefined || own === undefined) return 0;
  const lines = linesAbout(text, own);
  // The name of the skill is in every line, and tells its tools not apart.
  const ownerStems = new Set(toStems(owner));
  const asked = new Set(tokens.flatMap(({ stem }) => (stem === "" || ownerStems.has(stem) ? [] : [stem])));
  const scores = lines.map((line) => [...new Set(toStems(line))].filter((stem) => asked.has(stem)).length);
  return Math.min(mostBonus, Math.max(0, ...scores) * 0.7);
}

function linesAbout(text: string, own: string): string[] {
  const parts = own.toLowerCase().split(/[^a-z0-9]+/u);
  const found: string[] = [];
  let sentence = "";
  for (const whole of text.split("\n", mostLines)) {
    // Where a skill lies says nothing about it.
    const line = whole.replaceAll(/(?<=^|\s)\/\S+/gu, "");
    const lower = line.toLowerCase();
    const isAbout = parts.every((part) => lower.includes(part));
    const isCommand = /^\s*(?:```|\$|python3?|node|bash|sh|ruby)\b/u.test(line);
    if (isAbout) found.push(isCommand ? sentence : line);
    if (!isCommand && line.trim() !== "" && !line.includes("```")) sentence = line;
  }
  return found;
}
