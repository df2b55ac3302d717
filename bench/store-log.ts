import { join } from "node:path";

import { createWorkspace, defineTool } from "kitbag";
import { openAudit } from "kitbag/store";

import type { Question } from "./question.ts";
import { openStoreFile, runAtOnce } from "./store-file.ts";

const events = 1_000_000;
const runs = 1000;
const batch = 500;
const recorded = 10_000;

const question: Question = {
  title: "What does a long log cost?",
  text: `A log in SQLite with ${events.toLocaleString("en")} events of ${runs} runs, written in turns. The last 20 events of one run are read, each time of another; and ${recorded} calls of a trivial tool are recorded, to see how much the file grows for each (a number of bytes, not a time).`,
  unit: "ms, or bytes",
  rounds: 21,
  targets: [
    { text: "the last 20 events of one run", unit: "ms", limit: 5, value: (cost) => cost("the tail of a run, ms") },
  ],
  async contenders() {
    const { store, bytes } = await openStoreFile();
    const written = events / runs / batch;
    for (let part = 0; part < written; part += 1) {
      await runAtOnce(runs, 32, (run) =>
        store.log.append(
          `run:${run}`,
          Array.from({ length: batch }, (_, index) => ({
            type: "step",
            step: part * batch + index,
            text: "x".repeat(100),
          })),
        ),
      );
    }
    const growth = await measureGrowth();
    let turn = 0;
    return [
      {
        name: "the tail of a run, ms",
        async measure() {
          turn += 1;
          const stream = `run:${(turn * 37) % runs}`;
          const before = performance.now();
          const last = await store.log.position(stream);
          const tail = await store.log.read(stream, { after: last - 20 });
          const took = performance.now() - before;
          if (tail.length !== 20) throw new Error(`Cannot trust the measurement: read ${tail.length} events`);
          return took;
        },
      },
      { name: "the file for each event, bytes", measure: () => bytes() / events },
      { name: "the file for each call that is recorded and audited, bytes", measure: () => growth },
    ];
  },
};

export default question;

/** How much larger the file is for each call, once everything is in it. */
async function measureGrowth(): Promise<number> {
  const { store, directory, bytes } = await openStoreFile();
  const audit = await openAudit({
    store,
    keyFile: join(directory, "audit.key"),
    anchorFile: join(directory, "audit.head"),
  });
  const workspace = createWorkspace({ tools: [echo], store, audit });
  await runAtOnce(recorded, 32, (index) => workspace.call("echo", { text: `call ${index}` }, { user: "Ada" }));
  await audit.close();
  await store.close();
  return bytes() / recorded;
}

const echo = defineTool({
  name: "echo",
  description: "Answers",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text = "" }) => text,
});
