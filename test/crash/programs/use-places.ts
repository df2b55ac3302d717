/** Calls a tool that has only so many places, again and again. Says when each call of it began and ended, by a clock that all share. */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { createWorkspace, defineTool } from "kitbag";

import { openCrashStore, type CrashStore } from "../crash-store.ts";

const [given = "", places = "", calls = "", work = ""] = process.argv.slice(2);
const say = (what: string): void => void writeSync(1, `${what} ${process.hrtime.bigint()}\n`);
const tool = defineTool({
  name: "print",
  description: "Prints",
  limits: { maxConcurrent: Number(places), limitMs: 100_000 },
  run: async () => {
    say("begin");
    await (work === "for-ever" ? new Promise(() => setInterval(() => {}, 1000)) : sleep(20));
    say("end");
  },
});
const store = await openCrashStore(JSON.parse(given) as CrashStore);
const workspace = createWorkspace({ tools: [tool], store });
writeSync(1, "ready\n");
const outcomes = await Promise.all(Array.from({ length: Number(calls) }, () => workspace.call("print")));
writeSync(1, `outcomes ${outcomes.map(({ status }) => status).join(" ")}\n`);
await store.close();
