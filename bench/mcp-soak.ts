import type { Question } from "./question.ts";
import { runSoak, type SoakResult } from "./soak/run-soak.ts";

/** The whole measure is 60 s; shorter to try it. */
const seconds = Number(process.env["KITBAG_SOAK_SECONDS"] ?? 60);
const clients = 200;
const MiB = 1024 * 1024;

const values: Readonly<Record<string, (result: SoakResult) => number>> = {
  "calls made": ({ calls }) => calls,
  "changes of tools": ({ changes }) => changes,
  "tools made by the forge": ({ forged }) => forged,
  errors: ({ errors }) => errors.length,
  "lost notices": ({ lost }) => lost,
  "heap after a sixth, MiB": ({ heapSettledBytes }) => heapSettledBytes / MiB,
  "heap at the end, MiB": ({ heapEndBytes }) => heapEndBytes / MiB,
  "resident after a sixth, MiB": ({ rssSettledBytes }) => rssSettledBytes / MiB,
  "resident at the end, MiB": ({ rssEndBytes }) => rssEndBytes / MiB,
};

const question: Question = {
  title: "Does a server stay well with many clients while its tools change?",
  text: `${clients} clients at once over HTTP for ${seconds} s, half of them of each generation, each with a stream on which it listens: each calls a tool and waits 180 ms, and lists the tools after every tenth call. Meanwhile a tool is added, replaced or removed ten times a second, and every four seconds the forge makes one, tries it in the sandbox and deletes the one before; calls are recorded in a file. A notice is lost if a client did not hear of a change, or if its list at the end is not what is there. The heap after a forced collection, under load: after a sixth of the time everything is compiled and every client has been served many times, so more than a tenth on top of it would be growth that does not end. What is resident has no target: it also holds room that V8 keeps for garbage.`,
  unit: "as it says",
  rounds: 1,
  targets: [
    { text: "errors", unit: "", limit: 0, value: (cost) => cost("errors") },
    { text: "lost notices", unit: "", limit: 0, value: (cost) => cost("lost notices") },
    {
      text: "heap at the end to heap after a sixth of the time",
      unit: "×",
      limit: 1.1,
      value: (cost) => cost("heap at the end, MiB") / cost("heap after a sixth, MiB"),
    },
  ],
  async contenders() {
    // One run answers everything, and it warms itself up.
    const result = await runSoak({
      clients,
      seconds,
      settledAfterSeconds: seconds / 6,
      nodeArgs: process.execArgv,
    });
    for (const error of result.errors.slice(0, 5)) process.stderr.write(`${error}\n`);
    return Object.entries(values).map(([name, value]) => ({ name, measure: () => value(result) }));
  },
};

export default question;
