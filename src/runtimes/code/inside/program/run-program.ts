import type { Answer, ProgramEnd, ProgramStart, Step } from "./messages.ts";
import type { Bridge, Machine } from "./create-machine.ts";
import { toSources } from "./to-sources.ts";

/** How many timers a program may have at once. */
const maxTimers = 1000;
/** The longest that a timer waits, in milliseconds: as long as a timer of Node can. */
const longestTimer = 2 ** 31 - 1;

/** One program in a machine: runs it piece by piece, and tells its steps; the last one is the end. */
export class ProgramRun implements Bridge {
  readonly #start: ProgramStart;
  readonly #machine: Machine;
  readonly #tellJson: (step: string) => void;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  #callCount = 0;
  /** How many calls have not ended. */
  #waiting = 0;
  #printed = 0;
  #usedMs = 0;
  #enteredAt = 0;
  /** What the thread had used when the program began. */
  readonly #cpuBefore = threadCpuMs(0);
  #isOutOfTime = false;
  #isOver = false;

  constructor(start: ProgramStart, machine: Machine, tell: (step: string) => void) {
    this.#start = start;
    this.#machine = machine;
    this.#tellJson = tell;
  }

  /** Whether the program must stop; the machine asks again and again while it runs. */
  isInterrupted(): boolean {
    const { cpuMs } = this.#start.limits;
    // Elapsed time is cheaper to ask for, and never less.
    const elapsedMs = this.#usedMs + performance.now() - this.#enteredAt;
    if (elapsedMs > cpuMs && threadCpuMs(elapsedMs + this.#cpuBefore) - this.#cpuBefore > cpuMs)
      this.#isOutOfTime = true;
    return this.#isOutOfTime || this.#isOver;
  }

  begin(): void {
    this.#tell(["begin"]);
    this.#enter(() => {
      this.#machine.name(this.#start);
      this.#machine.begin(toSources(this.#start));
    });
  }

  /** Takes how a call ended: an {@link Answer} in JSON. */
  settle(answer: string): void {
    this.#enter(() => {
      this.#waiting -= 1;
      this.#machine.settle(answer);
    });
  }

  call(json: string): void {
    if (this.#isOver) return;
    this.#waiting += 1;
    this.#callCount += 1;
    if (this.#callCount <= this.#start.limits.maxCalls) this.#tellJson(json);
    else this.#refuse(json);
  }

  print(text: string): void {
    const { consoleBytes } = this.#start.limits;
    if (this.#isOver || this.#printed >= consoleBytes) return;
    const left = consoleBytes - this.#printed;
    this.#printed += text.length + 1;
    const note = `… (only the first ${consoleBytes} characters are kept)`;
    this.#tell(["print", text.length < left ? text : text.slice(0, left) + note]);
  }

  setTimer(id: number, ms: number): void {
    if (this.#timers.size >= maxTimers) throw new RangeError(`Cannot wait: there are ${maxTimers} timers already`);
    const onTime = (): void => {
      this.#timers.delete(id);
      this.#enter(() => this.#machine.fire(id));
    };
    this.#timers.set(id, setTimeout(onTime, Math.min(Math.max(ms, 0), longestTimer)));
  }

  clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  end(status: string, text: string): void {
    this.#end(toProgramEnd(status, text));
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
    if (this.#waiting > 0 || this.#timers.size > 0) return;
    const reason = "it waits for a promise that nothing will ever settle; await tools, or resolve it yourself";
    this.#end({ status: "failed", reason });
  }

  #end(end: ProgramEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#tell(["end", this.#isOutOfTime ? { status: "out-of-time" } : end]);
  }

  #toEnd(cause: unknown): ProgramEnd {
    const { name, message, stack = "" } = cause as Error;
    if (message.includes("out of memory")) return { status: "out-of-memory" };
    const lines = this.#start.source.split("\n").length;
    const line = /program:(\d+):/u.exec(stack)?.[1];
    // What is missing at the end is missed behind it.
    const place = line === undefined ? "" : ` (line ${Math.min(Number(line), lines)})`;
    const isModule = name === "SyntaxError" && /^\s*(?:import|export)\b/mu.test(this.#start.source);
    const cure = isModule ? "; a program has no modules, only its tools" : "";
    return { status: "failed", reason: `${name}: ${message}${place}${cure}` };
  }

  /** Refuses calls beyond the limit in this thread: there may be very many. */
  #refuse(json: string): void {
    const [, id, tool] = JSON.parse(json) as Extract<Step, readonly ["call", ...unknown[]]>;
    const limit = this.#start.limits.maxCalls;
    const message = `Cannot call ${JSON.stringify(tool)}: this program has used its ${limit} calls; use fewer, or return what is there`;
    const failure = { code: "budget-spent", message, details: { tool, limit } };
    setImmediate(() => this.settle(JSON.stringify([id, false, failure] satisfies Answer)));
  }

  #tell(step: Step): void {
    this.#tellJson(JSON.stringify(step));
  }
}

/** The time that this thread has computed, so that a program does not pay for others on a busy machine; `otherwise` if Node cannot tell. */
function threadCpuMs(otherwise: number): number {
  const { threadCpuUsage } = process as Partial<Pick<NodeJS.Process, "threadCpuUsage">>;
  if (threadCpuUsage === undefined) return otherwise;
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

function toProgramEnd(status: string, text: string): ProgramEnd {
  if (status === "ok") return { status, json: text };
  if (status === "no-json") return { status, found: text };
  return status === "out-of-memory" ? { status } : { status: "failed", reason: text };
}
