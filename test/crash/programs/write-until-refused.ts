/** Has a store open and counts in it, until it is refused; then tells the count that was kept, and why it ends. */
import { setTimeout } from "node:timers/promises";

import { isKitbagError } from "../../../src/core/errors.ts";
import { sqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

const store = await sqliteStore({ file: process.argv[2] ?? "" });
let kept = 0;
try {
  for (;;) {
    await store.kv.set("count", kept + 1);
    kept += 1;
    if (kept === 1) console.log("open");
    await setTimeout(5);
  }
} catch (cause) {
  const read = (await store.kv.get("count"))?.value ?? null;
  console.log(
    `refused ${isKitbagError(cause) ? cause.code : String(cause)} after ${kept}, reads ${JSON.stringify(read)}`,
  );
}
await store.close();
