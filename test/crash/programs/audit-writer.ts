import { openAudit } from "../../../src/records/audit/open-audit.ts";
import { sqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

/** Appends to the audit of a store, several entries at once, and says which of them are kept, until it has written `count`. */
const [file = "", keyFile = "", anchorFile = "", name = "", count = ""] = process.argv.slice(2);
const store = await sqliteStore({ file });
const audit = await openAudit({ store, keyFile, anchorFile });
for (let first = 0; first < Number(count); first += 4) {
  await Promise.all(
    [0, 1, 2, 3].map(async (offset) => {
      const call = `${name}-${first + offset}`;
      await audit.append({ type: "begin", call, tool: "echo", time: Date.now() });
      process.stdout.write(`${call}\n`);
    }),
  );
}
await audit.close();
await store.close();
