// Makes a fresh clone ready: installs the locked dependencies when they are missing or out of date. Plain JavaScript,
// because it runs on whatever Node the machine has, before our own Node is there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stampFile = `${root}node_modules/.kitbag-setup`;
const wanted = createHash("sha256").update(readFileSync(`${root}package-lock.json`)).digest("hex");

if (readStamp() !== wanted) {
  console.error("Installing the locked dependencies (once; about half a minute) …");
  const install = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: root,
    // Standard output belongs to the program that runs after us.
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (install.status !== 0) {
    console.error("Cannot install the dependencies: npm ci failed; check the network and run the command again");
    process.exit(1);
  }
  writeFileSync(stampFile, wanted);
}

function readStamp() {
  try {
    return readFileSync(stampFile, "utf8");
  } catch {
    return undefined;
  }
}
