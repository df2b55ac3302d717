import { createWorkspace, defineTool, type RateLimit, type Workspace } from "kitbag";

import type { Contender, Question } from "./question.ts";
import { openStoreFile } from "./store-file.ts";

const calls = 100;
const rates: readonly RateLimit[] = [{ per: "user", calls: 1_000_000_000, inMs: 60_000 }];

const question: Question = {
  title: "What does a limit cost that several processes share?",
  text: `A tool is called ${calls} times, each call awaited, with its records in SQLite: with no limit; with one for each user that is counted in the same file, so that other processes count with it; and with so many places for calls at once, one of which is taken and given back in that file. Beside it one bare increment.`,
  unit: "µs elapsed a call",
  rounds: 21,
  targets: [
    {
      text: "the limit, to one increment",
      unit: "×",
      limit: 1.3,
      value: (cost) => (cost("one limit") - cost("no limit")) / cost("one increment"),
    },
    {
      text: "a place, to one increment",
      unit: "×",
      limit: 1.3,
      value: (cost) => (cost("one of 10 places") - cost("no limit")) / cost("one increment"),
    },
  ],
  async contenders() {
    const { store } = await openStoreFile();
    const increment = (): Promise<unknown> => store.kv.increment("counter", 1, { expiresInMs: 60_000 });
    return [
      contend("no limit", call(createWorkspace({ tools: [echo], store }))),
      contend("one limit", call(createWorkspace({ tools: [echo], store, rates }))),
      contend(
        "one of 10 places",
        call(createWorkspace({ tools: [{ ...echo, limits: { maxConcurrent: 10 } }], store })),
      ),
      contend("one increment", increment),
    ];
  },
};

export default question;

const echo = defineTool({ name: "echo", description: "Answers", run: () => "ok" });

function call(workspace: Workspace): () => Promise<unknown> {
  return () => workspace.call("echo", {}, { user: "Ada" });
}

function contend(name: string, work: () => Promise<unknown>): Contender {
  return {
    name,
    async measure() {
      const before = performance.now();
      for (let index = 0; index < calls; index += 1) await work();
      return ((performance.now() - before) * 1000) / calls;
    },
  };
}
