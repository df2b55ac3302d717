import type { JsonObject } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Invocation } from "../cli-command.ts";
import { applySettings } from "../flags/apply-settings.ts";
import { parseFlags, type ParseFlagsOptions } from "../flags/parse-flags.ts";
import { getText } from "../options.ts";
import { readInput } from "./read-input.ts";

/**
 * Makes the input of a tool out of `--input` and the flags behind it, which go before it.
 *
 * @throws {KitbagError} `usage-invalid` for what cannot be read, or is no flag of the tool.
 */
export async function toToolInput(
  schema: JsonSchema,
  words: readonly string[],
  invocation: Invocation,
  options: ParseFlagsOptions,
): Promise<JsonObject> {
  const given = getText(invocation.options, "input");
  const input = given === undefined ? {} : await readInput(given, invocation);
  const flags = words.filter((word, index) => word !== "--" || words.indexOf("--") !== index);
  return applySettings(input, parseFlags(schema, flags, options));
}
