import { showValue, type JsonObject } from "../../core/json.ts";
import type { Invocation } from "../cli-command.ts";
import { usageError } from "../usage-error.ts";
import { parseInput } from "./parse-input.ts";
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
