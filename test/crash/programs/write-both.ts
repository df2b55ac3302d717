/** Writes records that must be on disk when they are acknowledged, and after each of them some that need not be. */
import { writeSync } from "node:fs";

import { sqliteStore } from "kitbag/store";

const [file = "", , count = "0"] = process.argv.slice(2);
const store = await sqliteStore({ file });
for (let number = 1; number <= Number(count); number++) {
  await store.log.append("records", [number]);
  writeSync(1, `log ${number}\n`);
  for (let more = 0; more < 5; more++) await store.log.append("records", [more], { durable: false });
}
await store.close();
