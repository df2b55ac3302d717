import { availableParallelism } from "node:os";
import { closeSync, openSync, readSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

import type { PythonModules, PythonReading } from "./python-facts.ts";
import { type PythonAnswer, type PythonProcess, startPython } from "./python-process.ts";

/** Reads Python files in one helper process, or in two when there are very many. Never rejects. */
export interface PythonReader {
  read(source: string, modules?: PythonModules): Promise<PythonReading>;
  /** Ends the helper. Reads that are under way are still answered. */
  close(): Promise<void>;
}

/** How Python is found and for how long it may read. */
export interface PythonReaderOptions {
  /** The program and its first arguments. @default the Python of `PATH` */
  readonly python?: readonly string[];
  /** For one file. @default 10000 */
  readonly limitMs?: number;
  /** Stops all reading at once. */
  readonly signal?: AbortSignal;
  /** Helpers that have nothing to do wait for more until the reader is closed. @default false */
  readonly keepsHelpers?: boolean;
}

/** Larger files are not parsed: they are not written by hand, and parsing takes memory in proportion. */
export const largestPythonSource = 512 * 1024;

/**
 * How many files are handed to a helper before it has answered: enough that it has work while we are busy with other languages,
 * and not more, because they are asked again when it is lost.
 */
const window = 48;

/** From this many waiting files on a second helper is worth its start. */
const manyFiles = 100;

/** A helper that has read so many files is not kept: it may use the processor for two minutes in all. */
const mostOfOneHelper = 5000;

/** Files that make the helper die before we give up on it. */
const mostLosses = 10;

interface Job {
  readonly source: string;
  readonly modules: PythonModules | undefined;
  readonly settle: (reading: PythonReading) => void;
}

/** Makes a reader. The helper is started by the first read, and again when a file has made it die. */
export function createPythonReader({
  python = [findPython()],
  limitMs = 10_000,
  signal,
  keepsHelpers = false,
}: PythonReaderOptions = {}): PythonReader {
  const pool = new LanePool(() => startPython({ command: python, limitMs }), keepsHelpers);
  const stop = (): void => pool.stop();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();

  return {
    read(source, modules) {
      if (source.length <= largestPythonSource) return pool.read(source, modules);
      const message = `it has more than ${largestPythonSource} characters`;
      return Promise.resolve({ ok: false, reason: "too-large", message });
    },
    async close() {
      await pool.finish();
      signal?.removeEventListener("abort", stop);
    },
  };
}

class LanePool {
  readonly #start: () => PythonProcess;
  readonly #keepsIdle: boolean;
  readonly #idle: PythonProcess[] = [];
  readonly #queue: Job[] = [];
  readonly #processes = new Set<PythonProcess>();
  readonly #lanes = new Set<Promise<void>>();
  /** Once it is clear that nothing can be read any more, the answer to everything. */
  #verdict: PythonReading | undefined;
  #losses = 0;

  constructor(start: () => PythonProcess, keepsIdle: boolean) {
    this.#start = start;
    this.#keepsIdle = keepsIdle;
  }

  read(source: string, modules: PythonModules | undefined): Promise<PythonReading> {
    if (this.#verdict !== undefined) return Promise.resolve(this.#verdict);
    return new Promise((settle) => {
      this.#queue.push({ source, modules, settle });
      // Once all reads of this turn are known, it is clear how many helpers are worth starting.
      if (this.#queue.length === 1) queueMicrotask(() => this.#work());
      else if (this.#queue.length === manyFiles + 1) this.#work();
    });
  }

  async finish(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
    for (const process of this.#idle.splice(0)) process.finish();
  }

  stop(): void {
    this.#giveUp({ ok: false, reason: "stopped", message: "reading was stopped" });
    for (const process of this.#processes) process.kill();
  }

  #giveUp(reading: PythonReading): PythonReading {
    const verdict = (this.#verdict ??= reading);
    for (const job of this.#queue.splice(0)) job.settle(verdict);
    return verdict;
  }

  #work(): void {
    const wanted = this.#queue.length > manyFiles && availableParallelism() > 1 ? 2 : 1;
    while (this.#lanes.size < wanted && this.#queue.length > 0) {
      const lane: Promise<void> = this.#runLane().then(() => {
        this.#lanes.delete(lane);
        if (this.#queue.length > 0) this.#work();
      });
      this.#lanes.add(lane);
    }
  }

  /** Feeds helpers, one after the other if they die, until nothing is left to do. */
  async #runLane(): Promise<void> {
    const asked = new Set<Promise<void>>();
    let process: PythonProcess | undefined;
    while (this.#queue.length > 0 || asked.size > 0) {
      const job = asked.size < window ? this.#queue.shift() : undefined;
      if (job === undefined) {
        await Promise.race(asked);
        continue;
      }
      const current = (process ??= this.#open());
      const task: Promise<void> = current.ask(job.source, job.modules).then((answer) => {
        asked.delete(task);
        if (answer.ok === "lost" && process === current) process = undefined;
        this.#handle(job, answer);
      });
      asked.add(task);
    }
    if (process === undefined) return;
    if (this.#keepsIdle && process.countAsked() < mostOfOneHelper) this.#idle.push(process);
    else process.finish();
  }

  #open(): PythonProcess {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const process = this.#start();
    this.#processes.add(process);
    return process;
  }

  #handle(job: Job, answer: PythonAnswer): void {
    if (answer.ok !== "lost") return job.settle(answer);
    if (this.#verdict !== undefined) return job.settle(this.#verdict);
    const { message, ready, first } = answer;
    if (!ready) return job.settle(this.#giveUp({ ok: false, reason: "missing", message }));
    // Only the file that was being read can be to blame; the others get another chance.
    if (!first) {
      this.#queue.unshift(job);
      return;
    }
    this.#losses += 1;
    job.settle({ ok: false, reason: "failed", message });
    if (this.#losses > mostLosses)
      this.#giveUp({ ok: false, reason: "failed", message: "too many files stopped the helper" });
  }
}

/**
 * The Python that `PATH` leads to, past scripts of that name: version managers put some there that take longer to choose a Python
 * than it takes to start.
 */
export function findPython(path = process.env["PATH"] ?? ""): string {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, "python3")).find(isBinary) ?? "python3";
}

function isBinary(file: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(2);
    return readSync(descriptor, start) === 2 && start.toString("latin1") !== "#!";
  } catch {
    return false;
  } finally {
    closeSync(descriptor);
  }
}
