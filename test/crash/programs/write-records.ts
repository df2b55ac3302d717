/**
 * Writes records, values and jobs into a store as fast as it can, several at a time, and says on stdout what was acknowledged: until
 * it is killed, or until it has written `count` batches, one after the other.
 */
import { randomInt } from "node:crypto";
import { writeSync } from "node:fs";

import { sqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

const [file = "", writer = "", count = "Infinity"] = process.argv.slice(2);
const maxInFlight = count === "Infinity" ? 8 : 1;
const store = await sqliteStore({ file });
const queue = store.queue("jobs");
const inFlight = new Set<Promise<void>>();
let number = 0;

for (let batch = 1; batch <= Number(count); batch++) {
  const size = randomInt(1, 6);
  // From a few bytes to more than a page.
  const padding = "x".repeat(randomInt(0, 10) === 0 ? 20_000 : randomInt(0, 500));
  const records = Array.from({ length: size }, () => ({ writer, number: (number += 1), batch, size, padding }));
  const last = number;
  send(store.log.append("records", records), `log ${last}`);
  if (count === "Infinity") {
    send(store.kv.set(`last:${writer}`, last), `kv ${last}`);
    send(queue.add(`${writer}-${last}`), `job ${last}`);
  }
  while (inFlight.size >= maxInFlight) await Promise.race(inFlight);
}
await store.close();

async function say(write: Promise<unknown>, line: string): Promise<void> {
  await write;
  // Not through a stream: what is said must be out before anything else happens.
  writeSync(1, `${line}\n`);
}

function send(write: Promise<unknown>, line: string): void {
  const done = say(write, line);
  inFlight.add(done);
  void done.finally(() => inFlight.delete(done));
}
