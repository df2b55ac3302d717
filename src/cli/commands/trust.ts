import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import type { Answer, CliCommand } from "../cli-command.ts";
import { configNames, findConfigIn, resolveFile } from "../config/find-config.ts";
import { findImports } from "../config/find-imports.ts";
import { resolveKitbagHome } from "../config/kitbag-home.ts";

import { toPrintable } from "../printable.ts";
import { usageError } from "../usage-error.ts";

/** `kitbag trust`: lets a configuration run, as it is now. */
export const trustCommand: CliCommand = {
  examples: [
    ["kitbag trust .", "the configuration of this folder, and the files it imports"],
    ["kitbag trust kitbag.config.ts", "the same, by its name"],
    ["kitbag trust . --remove", "trust it no longer"],
  ],
  define(command) {
    command.argument("<path>", "a kitbag.config file, or the folder it is in");
    command.option("--remove", "trust it no longer");
  },
  async run({ args, options, cwd, env }) {
    const path = findGiven(resolve(cwd, args[0] ?? ""));
    const home = resolveKitbagHome(env);
    return options["remove"] === true ? removeTrust(path, home) : addTrust(path, home);
  },
};

async function addTrust(path: string, home: string): Promise<Answer> {
  if (path.endsWith(".json")) throw usageError(`Cannot trust ${path}: it is only data, so it needs no trust`);
  const files = findImports(path);
  await updateTrust(home, ({ configs }) => configs.set(path, files));
  const list = [...files].map(([file, digest]) => ({ path: file, digest }));
  const lines = list.map((file) => `  ${file.digest.slice(0, 19)}…  ${file.path}`);
  const text = `Trusted, as they are now:\n${lines.join("\n")}\nIf one of them changes, this will be asked again.`;
  return { document: { config: path, trusted: true, files: list }, text: toPrintable(text) };
}

async function removeTrust(path: string, home: string): Promise<Answer> {
  let wasTrusted = false;
  await updateTrust(home, ({ configs }) => {
    wasTrusted = configs.delete(path);
  });
  const text = wasTrusted ? `No longer trusted: ${path}` : `It was not trusted: ${path}`;
  return { document: { config: path, trusted: false, files: [] }, text: toPrintable(text) };
}

function findGiven(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const config = findConfigIn(path);
    if (config !== undefined) return config;
    throw new KitbagError("config-missing", { path: join(path, "kitbag.config.ts") });
  }
  if (configNames.includes(basename(path))) return resolveFile(path);
  throw usageError(
    `Cannot trust ${path}: only configurations are trusted, and their names are ${configNames.join(", ")}`,
  );
}
