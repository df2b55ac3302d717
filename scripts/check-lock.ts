/** Fails if the lock file names a registry: everybody's npm uses its own. */
import { readFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, { resolved?: string; link?: boolean; integrity?: string }>;
};

const entries = Object.entries(lock.packages).filter(([name, { link }]) => name !== "" && link !== true);
const addressed = entries.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => name);
const unsealed = entries.filter(([, { integrity }]) => integrity === undefined).map(([name]) => name);

if (addressed.length > 0) {
  fail(
    `these packages have an address: ${addressed.join(", ")}; delete package-lock.json's "resolved" lines (.npmrc keeps them out)`,
  );
}
if (unsealed.length > 0) fail(`these packages have no integrity: ${unsealed.join(", ")}; install them from a registry`);

function fail(reason: string): void {
  console.error(`Cannot accept package-lock.json: ${reason}`);
  process.exitCode = 1;
}
