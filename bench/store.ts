import { join } from "node:path";

import { createWorkspace, defineTool, type Workspace } from "kitbag";
import { openAudit } from "kitbag/store";

import type { Contender, Question } from "./question.ts";
import { openStoreFile, p99, runAtOnce, runEvenly } from "./store-file.ts";

const calls = 5000;
const atOnce = 32;
const perSecond = 5000;
const evenly = "the slowest of 100, evenly";

const question: Question = {
  title: "What does a call cost that is on disk before it is acknowledged?",
  text: `A tool that adds two numbers is called ${calls} times, ${atOnce} of them at any time, through all phases. With the store every call is recorded in SQLite, written through to the disk (synchronous FULL) when it begins and before it is acknowledged, and has two lines in the audit chain. Against the same calls with nothing recorded. 200 µs a call are 5,000 calls a second. Once with as many calls as it can take, once with ${perSecond.toLocaleString("en")} a second, evenly, which is what the second target is about.`,
  unit: "µs elapsed a call",
  rounds: 15,
  targets: [
    { text: "recorded and audited", unit: "µs a call", limit: 200, value: (cost) => cost("recorded and audited") },
    {
      text: `99 of 100 calls wait no longer for it, at ${perSecond.toLocaleString("en")} a second`,
      unit: "ms",
      limit: 5,
      value: (cost) => (cost(`recorded and audited, ${evenly}`) - cost(`nothing recorded, ${evenly}`)) / 1000,
    },
  ],
  async contenders() {
    const { store, directory } = await openStoreFile();
    const audit = await openAudit({
      store,
      keyFile: join(directory, "audit.key"),
      anchorFile: join(directory, "audit.head"),
    });
    return [
      ...contend("nothing recorded", createWorkspace({ tools: [add] })),
      ...contend("recorded", createWorkspace({ tools: [add], store })),
      ...contend("recorded and audited", createWorkspace({ tools: [add], store, audit })),
    ];
  },
};

export default question;

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  output: { type: "number" },
  run: ({ a, b }) => Number(a) + Number(b),
});

/** One run gives two numbers, and a second one a third: how long the calls took together, and how long the slowest of a hundred waited. */
function contend(name: string, workspace: Workspace): readonly Contender[] {
  let slowest = 0;
  let reached = 0;
  return [
    {
      name,
      async measure() {
        const before = performance.now();
        const times = await runAtOnce(calls, atOnce, (index) => callOne(workspace, index));
        slowest = p99(times) * 1000;
        return ((performance.now() - before) * 1000) / calls;
      },
    },
    { name: `${name}, the slowest of 100`, measure: () => slowest },
    {
      name: `${name}, ${evenly}`,
      async measure() {
        const { times, rate } = await runEvenly({ count: calls, perSecond, atOnce }, (index) =>
          callOne(workspace, index),
        );
        reached = rate;
        return p99(times) * 1000;
      },
    },
    { name: `${name}, calls a second, evenly`, measure: () => reached },
  ];
}

async function callOne(workspace: Workspace, index: number): Promise<void> {
  const outcome = await workspace.call("add", { a: index, b: 1 });
  if (outcome.status !== "ok" || outcome.output !== index + 1) throw new Error(JSON.stringify(outcome));
}
