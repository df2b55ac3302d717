// Runs after `npm ci` and `npm install` in a clone, and before the package is packed: builds dist/, so that `npx kitbag` works. The first
// `npx kitbag` of a user runs it again: then what was built is taken.
// Plain JavaScript, because it also runs where only the run-time dependencies were installed, on whatever Node is there.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { markReady } from "./ready.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
// npx installs only a link to the clone.
const isNpx = process.env.npm_command === "exec";

if (existsSync(join(root, "node_modules/rolldown"))) {
  // First, because it is true whatever the build says.
  if (!isNpx) markReady(root);
  if (!isNpx || !existsSync(join(root, "dist/cli/main.js"))) build();
} else {
  console.error(
    "Not building dist/: the development dependencies are not installed (npm ci --include=dev installs them)",
  );
}

function build() {
  const shell = process.platform === "win32";
  // npm puts node_modules/.bin first in the path: this is the Node that the lock file names.
  const { status } = spawnSync("node", ["scripts/build.ts"], { cwd: root, stdio: "inherit", shell });
  process.exitCode = status ?? 1;
}
