/** Writes so many records to a store that need not be on disk yet, and kills itself when the last one is acknowledged. */
import { sqliteStore } from "kitbag/store";

const [file = "", count = "0"] = process.argv.slice(2);
const store = await sqliteStore({ file });
for (let number = 1; number <= Number(count); number++) {
  await store.log.append("records", [number], { durable: false });
}
process.kill(process.pid, "SIGKILL");
