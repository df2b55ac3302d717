import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";

/** The file of secrets in Kitbag's home: a line `NAME=value` each. */
const fileName = "secrets.env";

/**
 * Finds values for names that tools may see: in the environment, else in the file of secrets. Nobody else may read that file.
 *
 * @throws {KitbagError} `config-invalid` if others can read the file, or it has a line that is none.
 */
export function createSecretFinder(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): (name: string) => string | undefined {
  let secrets: ReadonlyMap<string, string> | undefined;
  const fromEnvironment = (name: string): string | undefined => (Object.hasOwn(env, name) ? env[name] : undefined);
  return (name) => fromEnvironment(name) ?? (secrets ??= loadSecretFile(join(home, fileName))).get(name);
}

function loadSecretFile(path: string): ReadonlyMap<string, string> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return new Map();
  if ((facts.mode & 0o077) !== 0) {
    throw new KitbagError("config-invalid", { path, reason: "others can read it; run chmod 600 on it" });
  }
  const lines = readFileSync(path, "utf8").split(/\r?\n/u);
  return new Map(lines.flatMap((line, index) => parseLine(line, index + 1, path)));
}

function parseLine(line: string, number: number, path: string): [[name: string, value: string]] | [] {
  if (/^\s*(?:#|$)/u.test(line)) return [];
  const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/u.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new KitbagError("config-invalid", { path, reason: `line ${number} is not NAME=value` });
  }
  return [[name, value.replace(/^(["'])(.*)\1$/u, "$2")]];
}
