import type { Failure } from "../../core/errors.ts";
import type { Holder } from "../registry/registered-tool.ts";

/** How much a skill was used. */
export interface SkillUsage {
  readonly activations: number;
  readonly calls: number;
  readonly failures: number;
  /** Milliseconds since 1970. */
  readonly lastUsed?: number;
}

/** A call that can be stopped. */
export interface RunningCall {
  readonly address: string;
  /** Whom it is made for. */
  readonly holder?: Holder;
  stop(failure: Failure): void;
}

/** The calls of skills' tools that are running, and how much each skill was used. */
export interface RunningCalls {
  enter(owner: string, call: RunningCall): void;
  leave(owner: string, call: RunningCall, failed: boolean): void;
  running(owner: string): readonly RunningCall[];
  /** Resolves when no call of this owner is running. */
  idle(owner: string): Promise<void>;
  noteActivation(owner: string): void;
  usage(owner: string): SkillUsage;
}

interface Counts {
  activations: number;
  calls: number;
  failures: number;
  lastUsed?: number;
}

/** Makes an empty record. */
export function createRunningCalls(): RunningCalls {
  const running = new Map<string, Set<RunningCall>>();
  const waiting = new Map<string, (() => void)[]>();
  const counts = new Map<string, Counts>();

  function countsOf(owner: string): Counts {
    let found = counts.get(owner);
    if (found === undefined) {
      found = { activations: 0, calls: 0, failures: 0 };
      counts.set(owner, found);
    }
    return found;
  }

  return {
    enter(owner, call) {
      const calls = running.get(owner) ?? new Set();
      running.set(owner, calls.add(call));
      const usage = countsOf(owner);
      usage.calls += 1;
      usage.lastUsed = Date.now();
    },
    leave(owner, call, failed) {
      if (failed) countsOf(owner).failures += 1;
      const calls = running.get(owner);
      calls?.delete(call);
      if (calls === undefined || calls.size > 0) return;
      running.delete(owner);
      for (const resolve of waiting.get(owner) ?? []) resolve();
      waiting.delete(owner);
    },
    running: (owner) => [...(running.get(owner) ?? [])],
    idle(owner) {
      if (!running.has(owner)) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.set(owner, [...(waiting.get(owner) ?? []), resolve]);
      });
    },
    noteActivation(owner) {
      const usage = countsOf(owner);
      usage.activations += 1;
      usage.lastUsed = Date.now();
    },
    usage: (owner) => ({ ...countsOf(owner) }),
  };
}
