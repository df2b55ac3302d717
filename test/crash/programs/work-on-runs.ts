/** A worker in a process of its own: see {@link WorkerProgram}. */
import { writeSync } from "node:fs";

import { isKitbagError } from "../../../src/core/errors.ts";
import { createRuns } from "../../../src/records/runs/create-runs.ts";
import { toRecord } from "../../../src/records/runs/run-records.ts";
import { openCrashStore } from "../crash-store.ts";
import { threeSteps, type WorkerProgram } from "../three-steps.ts";

const program = JSON.parse(process.argv[2] ?? "") as WorkerProgram;
const store = await openCrashStore(program.store);
const { append } = store.log;

const runs = createRuns({
  store: {
    ...store,
    log: {
      ...store.log,
      async append(stream, values, options) {
        const record = toRecord(values[0] ?? null);
        const isIntent = record?.type === "step-intent" && record.step === "two";
        const isOutcome = record?.type === "step-outcome" && record.step === "two";
        if (isIntent) die("before intent");
        const position = await append(stream, values, options);
        if (isIntent) die("after intent");
        if (isOutcome) die("after outcome");
        return position;
      },
    },
  },
  worker: program.worker,
  leaseMs: program.leaseMs,
});

const handler = threeSteps(program, (step) => {
  say(`step ${step}`);
  if (step === "two") die("after effect");
});
runs.work(async (run) => {
  say(`open ${run.id}`);
  try {
    return await handler(run);
  } catch (cause) {
    say(`failed ${isKitbagError(cause) ? cause.code : String(cause)}`);
    throw cause;
  }
});
say("ready");

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function die(point: WorkerProgram["dieAt"]): void {
  if (point === program.dieAt) process.kill(process.pid, "SIGKILL");
}
