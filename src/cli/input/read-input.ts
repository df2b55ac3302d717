import { type JsonObject, showValue } from "../../core/json.ts";
import type { Invocation } from "../cli-command.ts";
import { usageError } from "../usage-error.ts";
import { readText, refuseLong } from "./read-text.ts";

/** As JSON, with all its blanks and line breaks; more than any workspace takes unless it is told to. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Reads what `--input` names: JSON, `-` for standard input, `@file` for a file.
 *
 * @throws {KitbagError} `usage-invalid` if it is not a JSON object.
 */
export async function readInput(given: string, { cwd, terminal }: Invocation): Promise<JsonObject> {
  const refuse = (): never => refuseLong("--input", maxBytes);
  const text =
    given === "-" ? await terminal.readInput(maxBytes).catch(refuse) : readText("--input", given, cwd, maxBytes);
  const value = parseInput(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw usageError(`Cannot use --input: expected a JSON object like {"name": "value"}, found ${showValue(value)}`);
}

/** No tool takes a value that is deeper, and millions of levels would use up the memory before anybody could say so. */
const maxDepth = 1000;

/**
 * Reads JSON that a person or a program gave.
 *
 * @throws {KitbagError} `usage-invalid` if it is not JSON, or nested more than 1000 deep.
 */
function parseInput(text: string): unknown {
  if (isTooDeep(text)) throw usageError(`Cannot use --input: it is nested more than ${maxDepth} levels deep`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ""));
  } catch (cause) {
    const problem = text.trim() === "" ? "nothing" : (cause as Error).message.slice(0, 200);
    throw usageError(`Cannot use --input: expected JSON, found ${problem}`);
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isInText) {
      if (character === "\\") index += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}
