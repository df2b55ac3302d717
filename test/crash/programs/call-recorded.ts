/** Calls a tool that is recorded, and says when a call is over. */
import { writeSync } from "node:fs";

import { createWorkspace, defineTool } from "kitbag";
import { sqliteStore } from "kitbag/store";

const [file = "", , count = "0"] = process.argv.slice(2);
const store = await sqliteStore({ file });
const workspace = createWorkspace({
  tools: [defineTool({ name: "quiet", description: "Does nothing", run: () => "" })],
  store,
});
for (let number = 1; number <= Number(count); number++) {
  await workspace.call("quiet");
  writeSync(1, `log ${number}\n`);
}
await store.close();
