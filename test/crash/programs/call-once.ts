/** Makes a call with a key. Says when its tool runs, and how the call ended; then it waits to be killed. */
import { writeSync } from "node:fs";

import { createWorkspace, defineTool } from "kitbag";
import { sqliteStore } from "kitbag/store";

const [file = "", kind = "", work = ""] = process.argv.slice(2);
const tool = defineTool({
  name: "pay",
  description: "Pays",
  annotations: { idempotent: kind === "idempotent" },
  run: () => {
    writeSync(1, "ran\n");
    return work === "for-ever" ? new Promise(() => {}) : "paid";
  },
});
const workspace = createWorkspace({ tools: [tool], store: await sqliteStore({ file }) });
// The one that was killed has the key until its lease is over: whoever comes meanwhile waits.
const outcome = await workspace.call(
  "pay",
  {},
  { idempotencyKey: "order-1", limitMs: work === "for-ever" ? 2000 : 60_000 },
);
writeSync(1, `outcome ${JSON.stringify(outcome)}\n`);
setInterval(() => {}, 1000);
