// Makes a fresh clone ready, then runs the command that is given: `node scripts/setup.mjs vitest run`. Installs the locked
// dependencies when they are missing or out of date. Plain JavaScript, because it runs on whatever Node the machine has, before
// our own Node is there; and it starts the command itself, because a shell remembers the Node it has already found.
import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { isReady } from "./ready.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const shell = process.platform === "win32";

if (!isReady(root)) install();
const [command, ...args] = process.argv.slice(2);
if (command !== undefined) run(command, args);

function install() {
  console.error("Installing the locked dependencies (once; about half a minute) …");
  // Standard output belongs to the command that runs after us.
  spawnSync("npm", ["ci", "--loglevel=error"], { cwd: root, stdio: ["ignore", 2, 2], shell });
  if (isReady(root)) return;
  console.error('Cannot install the dependencies: "npm ci" failed; check the network and run the command again');
  process.exit(1);
}

function run(command, args) {
  const env = { ...process.env, PATH: join(root, "node_modules", ".bin") + delimiter + process.env.PATH };
  const child = spawn(command, args, { stdio: "inherit", env, shell });
  // The terminal sends Ctrl-C to the command as well, and it is the command that decides what to do.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (cause) => {
    console.error(`Cannot run ${command}: ${cause.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
