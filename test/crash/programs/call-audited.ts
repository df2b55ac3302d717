/** Calls a tool that is recorded and audited, and says when it runs and when the call is over. */
import { writeSync } from "node:fs";

import { createWorkspace, defineTool } from "kitbag";
import { openAudit, sqliteStore } from "kitbag/store";

const [file = "", , count = "0"] = process.argv.slice(2);
const store = await sqliteStore({ file });
const audit = await openAudit({ store, keyFile: `${file}.key`, anchorFile: `${file}.head` });
const tool = defineTool({ name: "tell", description: "Tells that it runs", run: () => void writeSync(1, "log ran\n") });
const workspace = createWorkspace({ tools: [tool], store, audit });
for (let number = 1; number <= Number(count); number++) {
  await workspace.call("tell");
  writeSync(1, `log ${number}\n`);
}
await audit.close();
await store.close();
