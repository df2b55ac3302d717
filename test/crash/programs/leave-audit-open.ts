/** Calls a tool that is audited, and closes neither the audit nor the store. */
import { writeSync } from "node:fs";

import { createWorkspace, defineTool } from "kitbag";
import { openAudit, sqliteStore } from "kitbag/store";

const [file = ""] = process.argv.slice(2);
const store = await sqliteStore({ file });
const audit = await openAudit({ store, keyFile: `${file}.key`, anchorFile: `${file}.head` });
const tool = defineTool({ name: "quiet", description: "Does nothing", run: () => "" });
await createWorkspace({ tools: [tool], store, audit }).call("quiet");
writeSync(1, "log 1\n");
