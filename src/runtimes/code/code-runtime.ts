import type { Worker } from "node:worker_threads";

import { createSemaphore } from "../../core/async.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { answerCalls, type ProgramHost } from "./answer-calls.ts";
import {
  type CodeLimits,
  toCodeLimits,
  createProgramSession,
  type ProgramSession,
  type CodeOutput,
  describeProgram,
  toCodeOutput,
} from "./program-session.ts";
import type { CodeInput } from "./create-code-tool.ts";
import type { ProgramEnd, ProgramStart, Step } from "./inside/program/messages.ts";
import { loadEngine, type ProgramEngine, type ProgramWorker, startWorker } from "./start-worker.ts";
import { type AvailableTool, toToolNames } from "./render-tool-declarations.ts";

/** What {@link codeRuntime} takes. */
export interface CodeRuntimeOptions {
  /**
   * The tools that there are now, for names that programs can write; what a program may call is decided when it calls. `context`
   * knows those that are available where the program is run. @default none: tools go by their own names
   */
  readonly tools?: (context: RuntimeContext) => readonly AvailableTool[];
  /** Where Python programs run. @default nowhere: they are refused */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<CodeLimits>;
}

/** How many programs run in this process, of all runtimes. */
let running = 0;
const isAlone = (): boolean => running === 1;

/** Runs programs of models. */
export interface CodeRuntime extends Runtime {
  readonly kind: "code";
  /** Ends the threads that are kept for the next programs. */
  close(): Promise<void>;
}

/**
 * Makes the runtime of code mode: it runs programs that a model wrote, each in a machine of its own which holds it to its memory
 * and its time, and in which nothing exists but its tools. JavaScript and TypeScript run in QuickJS compiled to WASM, in a thread
 * that is ended when it does not stop; Python runs in `sandbox`. Each tool that a program calls takes the way every call takes.
 *
 * @throws {KitbagError} `option-invalid` if a limit is not a number above 0.
 *
 * @example
 * ```ts
 * import { codeRuntime, createCodeTool, createWorkspace, defineTool } from "kitbag";
 *
 * const square = defineTool({
 *   name: "square",
 *   description: "Squares a number",
 *   input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
 *   run: ({ n }) => Number(n) ** 2,
 * });
 * const runtime = codeRuntime();
 * const workspace = createWorkspace({ tools: [square, createCodeTool()], runtimes: [runtime] });
 *
 * const code = "const all = await Promise.all([1, 2, 3].map((n) => tools.square({ n }))); return all.join()";
 * const outcome = await workspace.call("execute_code", { code });
 * console.assert(outcome.status === "ok" && JSON.stringify(outcome.output).startsWith('{"result":"1,4,9"'));
 * await runtime.close();
 * ```
 */
export function codeRuntime({ tools = () => [], sandbox, limits: given = {} }: CodeRuntimeOptions = {}): CodeRuntime {
  const limits = toCodeLimits(given);
  const workers = createProgramWorkers(limits.memoryBytes);

  function runPlain(
    { code, language }: CodeInput,
    session: ProgramSession,
    context: RuntimeContext,
  ): Promise<ProgramEnd> {
    const start = { source: code, language: language === "typescript" ? language : "javascript", limits } as const;
    return workers.run(
      { ...start, ...toToolNames(tools(context)) },
      { call: toHostCall(session), print: session.print, isAlone },
      context.signal,
    );
  }

  async function run(tool: string, program: CodeInput, context: RuntimeContext): Promise<CodeOutput> {
    const session = createProgramSession(context, limits);
    context.onTimeout(() => describeProgram(session));
    if (program.language !== "python") {
      const end = await runPlain(program, session, context);
      return toCodeOutput({ tool, end, session, limits });
    }
    const { runPython, toPythonLimits } = await import("./run-python.ts");
    const python = { tool, code: program.code, session, sandbox, limits: toPythonLimits(limits) };
    const end = await runPython({ ...python, names: toToolNames(tools(context)) }, context.signal);
    return toCodeOutput({ ...python, end });
  }

  return {
    kind: "code",
    describe: () => ({ sandbox: sandbox === undefined ? "quickjs" : `quickjs or ${sandbox.name}` }),
    async run({ name }, input, context) {
      running += 1;
      try {
        return await run(name, input as CodeInput, context);
      } finally {
        running -= 1;
      }
    },
    close: workers.close,
  };
}

function toHostCall(session: ProgramSession): ProgramHost["call"] {
  return (address, input, settle) => {
    const settleWith = (outcome: ToolOutcome): void =>
      outcome.status === "ok" ? settle(true, outcome.output) : settle(false, outcome.error);
    // One that is not called because the program must stop needs no answer.
    session.call(address, input).then(settleWith, () => {});
  };
}

/** Threads that run programs, each one at a time. */
interface ProgramWorkers {
  /** Runs one program to its end. Rejects with the signal's reason when it is aborted; nothing of the program goes on then. */
  run(start: ProgramStart, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd>;
  /** Ends all threads. */
  close(): Promise<void>;
}

/** How many programs run at once. Those that programs start count, too: they could start very many. */
const maxThreads = 16;
/** How many threads are kept for the next programs, and how long. */
const maxIdle = 2;
const idleMs = 30_000;

/** Makes threads for programs that may use `memoryBytes` each. The first is started when it is needed. */
function createProgramWorkers(memoryBytes: number): ProgramWorkers {
  const idle = new Map<ProgramWorker, ReturnType<typeof setTimeout>>();
  const all = new Set<ProgramWorker>();
  const permits = createSemaphore(maxThreads);
  let engine: Promise<ProgramEngine> | undefined;

  async function take(): Promise<ProgramWorker> {
    const [kept] = idle.keys();
    if (kept === undefined) return start();
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    kept.hold(true);
    return kept;
  }

  async function start(): Promise<ProgramWorker> {
    engine ??= loadEngine();
    const worker = startWorker(await engine, memoryBytes);
    all.add(worker);
    worker.thread.once("exit", () => {
      all.delete(worker);
      clearTimeout(idle.get(worker));
      idle.delete(worker);
    });
    return worker;
  }

  function keep(worker: ProgramWorker): void {
    if (idle.size >= maxIdle) return drop(worker);
    // A thread that waits for work keeps no process alive.
    worker.hold(false);
    idle.set(worker, setTimeout(() => drop(worker), idleMs).unref());
  }

  async function run(program: ProgramStart, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd> {
    const worker = await take();
    try {
      signal.throwIfAborted();
      const end = await followProgram(worker, program, host, signal);
      if (end === "lost") drop(worker);
      else keep(worker);
      return end === "lost" ? { status: "out-of-time" } : end;
    } catch (cause) {
      drop(worker);
      throw cause;
    }
  }

  return {
    run: (program, host, signal) => permits.run(() => run(program, host, signal), signal),
    async close() {
      await Promise.all([...all].map(({ thread }) => thread.terminate()));
    },
  };
}

function drop({ thread }: ProgramWorker): void {
  void thread.terminate();
}

/** How often to look whether a program keeps its thread too busy to notice its own limit, and how much later than that to act. */
const watchMs = 100;
const patienceMs = 500;

/**
 * Runs a program in `worker` to its end. `lost` means that the thread does not answer any more. Rejects with the signal's reason
 * when it is aborted, and when the thread dies. After anything but an end the thread is of no use.
 */
async function followProgram(
  { thread, exchange }: ProgramWorker,
  start: ProgramStart,
  host: ProgramHost,
  signal: AbortSignal,
): Promise<ProgramEnd | "lost"> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd | "lost">();
  const watch = watchThread(thread, start.limits.cpuMs, () => resolve("lost"));
  const answers = answerCalls(exchange, host, watch.excuse);
  const take = (step: Step): void => {
    switch (step[0]) {
      case "begin":
        return watch.begin();
      case "call":
        return answers.call(step[1], step[2], step[3]);
      case "print":
        return host.print(step[1]);
      case "end":
        return resolve(step[1]);
    }
  };
  exchange.listen((text) => {
    try {
      for (const step of JSON.parse(text) as Step[]) take(step);
    } catch (cause) {
      // Nothing that comes out of a program may end more than the program.
      reject(cause);
    }
  });
  const onAbort = (): void => reject(signal.reason as Error);
  const onError = (cause: Error): void => (isOutOfMemory(cause) ? resolve({ status: "out-of-memory" }) : reject(cause));
  const onExit = (): void => reject(new Error("The thread of the program ended"));
  thread.on("error", onError).on("exit", onExit);
  signal.addEventListener("abort", onAbort);
  exchange.send(JSON.stringify(start, toFinite));
  try {
    return await promise;
  } finally {
    answers.end();
    watch.end();
    exchange.listen(() => {});
    thread.off("error", onError).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Watches how busy a thread is. */
interface ThreadWatch {
  /** From now on it counts. */
  begin(): void;
  /** Takes off what an answer costs: a thread that waits a moment for one counts as busy. */
  excuse(): void;
  end(): void;
}

/**
 * Calls `onLost` when a thread is busy for far longer than it may. The machine counts more exactly: this is for a program that
 * never lets it look. It counts elapsed time, so it is the more patient one.
 */
function watchThread(thread: Worker, cpuMs: number, onLost: () => void): ThreadWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  let excusedMs = 0;
  return {
    begin() {
      const before = thread.performance.eventLoopUtilization();
      timer = setInterval(() => {
        const { active } = thread.performance.eventLoopUtilization(before);
        if (active > cpuMs * 2 + patienceMs + excusedMs) onLost();
      }, watchMs);
    },
    excuse() {
      excusedMs += 1;
    },
    end: () => clearInterval(timer),
  };
}

/** JSON has no infinity; a limit may be. */
function toFinite(_key: string, value: unknown): unknown {
  return value === Infinity ? Number.MAX_SAFE_INTEGER : value;
}

function isOutOfMemory(cause: Error): boolean {
  return "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
