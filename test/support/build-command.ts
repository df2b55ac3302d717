import { spawnSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/**
 * Before the tests: builds the command if a source is newer, and has the tests start the built one, which takes a third of the time and is
 * what is shipped. A run of some files does not build: it starts the sources if they are newer.
 */
export function setup(): void {
  const runsAll = process.argv.slice(2).every((word) => word === "run" || word.startsWith("-"));
  if (isOlder() && !(runsAll && build())) return;
  process.env["KITBAG_BUILT"] = "1";
}

function isOlder(): boolean {
  const built = statSync(join(root, "dist/cli/main.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync(["src/**/*.{ts,pl,py}", "scripts/build.ts", "scripts/build/*.ts", "package-lock.json"], {
    cwd: root,
  });
  return sources.some((file) => statSync(join(root, file)).mtimeMs > built);
}

function build(): boolean {
  console.error("Building the command (a source is newer; about half a minute) …");
  return spawnSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "inherit" }).status === 0;
}
