/** Adds one to the number in a file, so often, each time under a lock; or takes the lock and keeps it. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

import { takeFileLock, withFileLock } from "../../../src/platform/file-lock.ts";

const [lock = "", counter = "", times = "0", holdMs = "0"] = process.argv.slice(2);
console.log("ready");
for (let count = 0; count < Number(times); count++) {
  await withFileLock(lock, async () => {
    const before = Number(readFileSync(counter, "utf8"));
    await setTimeout(Number(holdMs));
    writeFileSync(counter, String(before + 1));
  });
}
if (times === "0") {
  await takeFileLock(lock);
  console.log("held");
  await setTimeout(600_000);
}
console.log("done");
