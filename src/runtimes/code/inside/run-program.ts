import type { QuickJS } from "quickjs-wasi";

import { createMachine, type Machine } from "./create-machine.ts";
import type { FromWorker, ProgramEnd, ProgramStart } from "./messages.ts";
import { toSources } from "./to-sources.ts";

/** How many timers a program may have at once. */
const maxTimers = 1000;
/** The longest that a timer waits, in milliseconds: as long as a timer of Node can. */
const longestTimer = 2 ** 31 - 1;
/** Runs one program in an empty machine and tells what happens; the last thing it tells is the end. */
export class ProgramRun {
  readonly #start: ProgramStart;
  readonly #tell: (message: FromWorker) => void;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #calls = new Set<number>();
  #machine: Machine | undefined;
  #callCount = 0;
  #printed = 0;
  #usedMs = 0;
  #enteredAt = 0;
  #isOutOfTime = false;
  #isOver = false;

  constructor(start: ProgramStart, tell: (message: FromWorker) => void) {
    this.#start = start;
    this.#tell = tell;
  }

  /** Whether the program must stop; the machine asks again and again while it runs. */
  readonly isInterrupted = (): boolean => {
    if (this.#usedMs + performance.now() - this.#enteredAt > this.#start.limits.cpuMs) this.#isOutOfTime = true;
    return this.#isOutOfTime || this.#isOver;
  };

  begin(vm: QuickJS): void {
    this.#enter(() => {
      this.#machine = createMachine(vm, this.#bridge(), this.#start);
      this.#machine.begin(toSources(this.#start));
    });
  }

  settle(id: number, isOk: boolean, json: string): void {
    if (this.#calls.delete(id)) this.#enter(() => this.#machine?.settle(id, isOk, json));
  }

  /** Runs a piece of the program, and looks what came of it. */
  #enter(run: () => void): void {
    if (this.#isOver) return;
    this.#enteredAt = performance.now();
    try {
      run();
    } catch (cause) {
      this.#end(this.#toEnd(cause));
    }
    this.#usedMs += performance.now() - this.#enteredAt;
    if (this.#calls.size > 0 || this.#timers.size > 0) return;
    const reason = "it waits for a promise that nothing will ever settle; await tools, or resolve it yourself";
    this.#end({ status: "failed", reason });
  }

  #toEnd(cause: unknown): ProgramEnd {
    if (this.#isOutOfTime) return { status: "out-of-time" };
    const { name, message, stack = "" } = cause as Error;
    if (message.includes("out of memory")) return { status: "out-of-memory" };
    const line = /program:(\d+):/u.exec(stack)?.[1];
    return { status: "failed", reason: `${name}: ${message}${line === undefined ? "" : ` (line ${line})`}` };
  }

  #end(end: ProgramEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#tell({ type: "end", end: this.#isOutOfTime ? { status: "out-of-time" } : end });
  }

  #bridge(): Parameters<typeof createMachine>[1] {
    return {
      call: (id, address, json) => {
        this.#calls.add(id);
        this.#callCount += 1;
        if (this.#callCount <= this.#start.limits.maxCalls) this.#tell({ type: "call", id, address, json });
        else this.#refuse(id, address);
      },
      print: (text) => this.#print(text),
      setTimer: (id, ms) => {
        if (this.#timers.size >= maxTimers)
          throw new Error(`Cannot wait: ${maxTimers} timers are the most there may be`);
        const timer = setTimeout(() => this.#fire(id), Math.min(Math.max(ms, 0), longestTimer));
        this.#timers.set(id, timer);
      },
      clearTimer: (id) => {
        clearTimeout(this.#timers.get(id));
        this.#timers.delete(id);
      },
      end: (status, text) => this.#end(toProgramEnd(status, text)),
    };
  }

  #fire(id: number): void {
    this.#timers.delete(id);
    this.#enter(() => this.#machine?.fire(id));
  }

  /** Refuses here what nobody outside need hear of: there may be very many. */
  #refuse(id: number, tool: string): void {
    const limit = this.#start.limits.maxCalls;
    const message = `Cannot call ${JSON.stringify(tool)}: this program has used its ${limit} calls`;
    setImmediate(() =>
      this.settle(id, false, JSON.stringify({ code: "budget-spent", message, details: { tool, limit } })),
    );
  }

  #print(text: string): void {
    const { consoleBytes } = this.#start.limits;
    if (this.#printed > consoleBytes) return;
    const left = consoleBytes - this.#printed;
    this.#printed += text.length + 1;
    if (text.length <= left) this.#tell({ type: "print", text });
    else
      this.#tell({ type: "print", text: `${text.slice(0, left)}… (it printed more than ${consoleBytes} characters)` });
  }
}

function toProgramEnd(status: string, text: string): ProgramEnd {
  if (status === "ok") return { status, json: text };
  if (status === "no-json") return { status, found: text };
  return status === "out-of-memory" ? { status } : { status: "failed", reason: text };
}
