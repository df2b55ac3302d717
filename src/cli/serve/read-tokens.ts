import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

import type { GateToken } from "../../gate/gate.ts";
import { describeFileError } from "../../skills/folder/describe-file-error.ts";
import type { Invocation } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import { usageError } from "../usage-error.ts";

/** More than any list of tokens has. */
const maxBytes = 1024 * 1024;

/**
 * Reads the tokens that the person names, by flag or else by `KITBAG_TOKEN`: as text, or as `@file`. Each line of a file is a
 * token, and behind it, if that is wanted, whose it is and its scopes: `<token> <id> tools:pdf,tools:csv`.
 *
 * @throws {KitbagError} `usage-invalid` for a file that cannot be read. It never repeats a token.
 */
export function readTokens({ options, env, cwd }: Pick<Invocation, "options" | "env" | "cwd">): GateToken[] {
  const flags = getTexts(options, "token");
  const variable = env["KITBAG_TOKEN"] ?? "";
  const given = flags.length > 0 ? flags : variable === "" ? [] : [variable];
  const source = flags.length > 0 ? "--token" : "KITBAG_TOKEN";
  const tokens = given.flatMap((text) => (text.startsWith("@") ? readFile(text, source, cwd) : [{ token: text }]));
  // An empty file or text must not mean that everybody is let in.
  if (given.length > 0 && tokens.every(({ token }) => token === "")) {
    throw usageError(`Cannot use ${source}: there is no token in it; make one with: openssl rand -hex 32`);
  }
  return tokens;
}

function readFile(given: string, source: string, cwd: string): GateToken[] {
  const path = resolve(cwd, given.slice(1));
  let text: string | undefined;
  try {
    text = statSync(path).size > maxBytes ? undefined : readFileSync(path, "utf8");
  } catch (cause) {
    throw usageError(`Cannot read ${source} ${given}: ${describeFileError(cause)}`);
  }
  if (text === undefined) throw usageError(`Cannot read ${source} ${given}: it is larger than ${maxBytes} bytes`);
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(toToken);
}

function toToken(line: string): GateToken {
  const [token = "", id, scopes] = line.split(/\s+/u);
  return {
    token,
    ...(id !== undefined && { id }),
    ...(scopes !== undefined && { scopes: scopes.split(",").filter((scope) => scope !== "") }),
  };
}
