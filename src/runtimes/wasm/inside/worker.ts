/** The program of one worker: runs modules, one call after the other, each in a new instance. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

import type { CompiledModule } from "./module/web-assembly.ts";
import { runCall } from "./pool/run-call.ts";
import type { FromWorker, Job, ToWorker, WorkerSettings } from "./wire/messages.ts";

// Most errors here are numbers that a module is told, a thousand times over; their stacks are never read.
Error.stackTraceLimit = 0;

const { roots, limits, answered } = workerData as WorkerSettings;
const answerFlag = new Int32Array(answered);
const modules = new Map<string, CompiledModule>();
const port = parentPort;
if (port === null) throw new Error("This program is a worker");

const place = {
  roots,
  limits,
  writeError: (bytes: Uint8Array) => tell({ type: "stderr", bytes }),
  ask,
};

port.on("message", (message: ToWorker) => {
  switch (message.type) {
    case "module":
      modules.set(message.digest, message.module);
      break;
    case "forget":
      modules.delete(message.digest);
      break;
    case "run":
      run(message.job);
      break;
    case "answer":
      break;
  }
});
tell({ type: "ready" });

function tell(message: FromWorker): void {
  port?.postMessage(message);
}

function run(job: Job): void {
  const { digest } = job;
  const module = modules.get(digest);
  if (module === undefined) throw new Error(`There is no module ${digest} here`);
  tell({ type: "end", ...runCall(module, job, place) });
}

function ask(request: Uint8Array): Uint8Array {
  Atomics.store(answerFlag, 0, 0);
  tell({ type: "ask", bytes: request });
  for (;;) {
    Atomics.wait(answerFlag, 0, 0);
    const received: { message: ToWorker } | undefined = port === null ? undefined : receiveMessageOnPort(port);
    if (received?.message.type === "answer") return received.message.bytes;
    // Another message may come in between; those are for the calls that follow, and no call follows while one runs.
    Atomics.store(answerFlag, 0, 0);
  }
}
