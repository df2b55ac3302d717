import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { showValue, type JsonObject } from "../../core/json.ts";
import type { Invocation } from "../cli-command.ts";
import { describeFileError } from "../../skills/folder/describe-file-error.ts";
import { usageError } from "../usage-error.ts";
import { parseInput } from "./parse-input.ts";

/** More than any workspace takes unless it is told to: reading on would only cost memory. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Reads what `--input` names: JSON, `-` for standard input, `@file` for a file.
 *
 * @throws {KitbagError} `usage-invalid` if it is not a JSON object.
 */
export async function readInput(given: string, { cwd, terminal }: Invocation): Promise<JsonObject> {
  const text = given === "-" ? await terminal.readInput(maxBytes).catch(tooLong) : readText(given, cwd);
  const value = parseInput(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw usageError(`Cannot use --input: expected a JSON object like {"name": "value"}, found ${showValue(value)}`);
}

function readText(given: string, cwd: string): string {
  if (!given.startsWith("@")) return given;
  let text: string | undefined;
  try {
    const path = resolve(cwd, given.slice(1));
    text = statSync(path).size > maxBytes ? undefined : readFileSync(path, "utf8");
  } catch (cause) {
    throw usageError(`Cannot read --input ${given}: ${describeFileError(cause)}`);
  }
  return text ?? tooLong();
}

function tooLong(): never {
  throw usageError(`Cannot use --input: it is longer than ${maxBytes} bytes`);
}
