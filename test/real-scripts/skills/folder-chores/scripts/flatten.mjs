#!/usr/bin/env node
/**
 * Moves all files of sub-folders up into the folder itself.
 */
import { parseArgs } from "node:util";
import { readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";

const { values } = parseArgs({ options: { dir: { type: "string", short: "d" }, quiet: { type: "boolean" } } });
const root = values.dir ?? ".";
for (const entry of await readdir(root, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const folder = join(root, entry.name);
  for (const name of (await readdir(folder)).sort()) {
    await rename(join(folder, name), join(root, name));
    if (!values.quiet) console.log(`${entry.name}/${name}`);
  }
  await rmdir(folder);
}
