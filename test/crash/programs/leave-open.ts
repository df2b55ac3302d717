/** Writes so many records to a store, each in a commit of its own, and never closes it. */
import { writeSync } from "node:fs";

import { sqliteStore } from "kitbag/store";

const [file = "", count = "0"] = process.argv.slice(2);
const store = await sqliteStore({ file });
for (let number = 1; number <= Number(count); number++) await store.log.append("records", [number]);
writeSync(1, `log ${count}\n`);
