import type { KeyValueStore } from "../../core/store.ts";
import type { ToolRate } from "../../core/tool.ts";
import { createLine, type Line, type Standing } from "../call/line.ts";
import { createRateCounter, type RateCounter } from "./rate-counter.ts";
import { describeRate, type RateLimit } from "./rate-limit.ts";
import { createStoreRateCounter } from "./store-rate-counter.ts";
import { createTurns, type Turns } from "./turns.ts";

/** What of a call decides which limits it counts for. */
export interface RateSubject {
  /** Its address. */
  readonly tool: string;
  readonly skill: string | undefined;
  /** Only of a call from outside. */
  readonly user: string | undefined;
  readonly isRoot: boolean;
  /** What the tool itself says. */
  readonly ownRate: ToolRate | undefined;
}

/** A limit that a call has reached. */
export interface Reached {
  /** In words. */
  readonly limit: string;
  readonly retryAfterMs: number;
  /** Where those stand who wait for the same. */
  readonly queue: RateQueue;
}

/** Those who wait until a limit has room, one at a time looking whether it has. */
export interface RateQueue {
  /** The limit, and whose: where both are the same, it is the same queue. */
  readonly limit: object;
  readonly name: string;
  /** Resolves when it is this one's turn to look. `leave` lets the next one look. */
  enter(user: string, priority: number): { readonly turn: Promise<void>; leave(): void };
}

/** How often tools may be called. */
export interface Rates {
  /** Whether there is any limit for this call: most have none. */
  has(subject: RateSubject): boolean;
  /** Counts a call for all its limits or none; answers with the one that it has reached. `isNext` says that it has waited its turn. */
  take(subject: RateSubject, isNext: boolean): Reached | undefined | Promise<Reached | undefined>;
}

/** Makes the limits of a workspace; with a store, all processes that share it count together. */
export function createRates(limits: readonly RateLimit[], kv: KeyValueStore | undefined): Rates {
  const known = new Map<string, Limiter>();
  const fixed = limits.map((limit) => toLimiter(limit, kv));

  function limiterOf(tool: string, rate: ToolRate): Limiter {
    const limit: RateLimit = { ...rate, per: "tool", of: tool };
    const before = known.get(tool);
    if (before !== undefined && isSame(before.limit, limit)) return before;
    const limiter = toLimiter(limit, kv);
    known.set(tool, limiter);
    return limiter;
  }

  function find(subject: RateSubject): Limiter[] {
    const found = fixed.filter(({ limit }) => isFor(limit, subject));
    if (subject.ownRate !== undefined) found.push(limiterOf(subject.tool, subject.ownRate));
    return found;
  }

  return {
    has: ({ ownRate }) => fixed.length > 0 || ownRate !== undefined,
    take(subject, isNext) {
      const limiters = find(subject);
      return kv === undefined ? takeAll(limiters, subject, isNext) : takeAllLater(limiters, subject, isNext);
    },
  };
}

interface Limiter {
  readonly limit: RateLimit;
  readonly counter: RateCounter;
  readonly queues: Map<string, OpenQueue>;
}

function toLimiter(limit: RateLimit, kv: KeyValueStore | undefined): Limiter {
  const counter = kv === undefined ? createRateCounter(limit) : createStoreRateCounter(kv, limit);
  return { limit, counter, queues: new Map() };
}

function isSame(left: RateLimit, right: RateLimit): boolean {
  return left.calls === right.calls && left.inMs === right.inMs && left.burst === right.burst;
}

function isFor({ per, of }: RateLimit, subject: RateSubject): boolean {
  if ((per === "user" || per === "workspace") && !subject.isRoot) return false;
  if (per === "skill" && subject.skill === undefined) return false;
  return of === undefined || of === nameOf(per, subject);
}

function nameOf(per: RateLimit["per"], { tool, skill, user }: RateSubject): string {
  switch (per) {
    case "tool":
      return tool;
    case "skill":
      return skill as string;
    case "user":
      return user ?? "";
    case "workspace":
      return "";
  }
}

function takeAll(limiters: readonly Limiter[], subject: RateSubject, isNext: boolean): Reached | undefined {
  const now = Date.now();
  for (const [index, limiter] of limiters.entries()) {
    const name = nameOf(limiter.limit.per, subject);
    // Counters in memory answer at once.
    const wait = isHeldUp(limiter, name, isNext) ? 1 : (limiter.counter.take(name, now) as number);
    if (wait === 0) continue;
    for (const taken of limiters.slice(0, index)) void taken.counter.giveBack(nameOf(taken.limit.per, subject), now);
    return toReached(limiter, name, wait);
  }
  return undefined;
}

async function takeAllLater(
  limiters: readonly Limiter[],
  subject: RateSubject,
  isNext: boolean,
): Promise<Reached | undefined> {
  const now = Date.now();
  const held = limiters.find((limiter) => isHeldUp(limiter, nameOf(limiter.limit.per, subject), isNext));
  if (held !== undefined) return toReached(held, nameOf(held.limit.per, subject), 1);
  const waits = await Promise.all(
    limiters.map(async ({ counter, limit }) => counter.take(nameOf(limit.per, subject), now)),
  );
  const longest = waits.indexOf(Math.max(0, ...waits));
  const reached = limiters[longest];
  if (reached === undefined || waits[longest] === 0) return undefined;
  const taken = limiters.filter((_, index) => waits[index] === 0);
  await Promise.all(taken.map(async ({ counter, limit }) => counter.giveBack(nameOf(limit.per, subject), now)));
  return toReached(reached, nameOf(reached.limit.per, subject), waits[longest] as number);
}

/** Nobody is overtaken: who comes now stands behind those who wait. */
function isHeldUp({ queues }: Limiter, name: string, isNext: boolean): boolean {
  return !isNext && queues.has(name);
}

function toReached({ limit, queues }: Limiter, name: string, retryAfterMs: number): Reached {
  return { limit: describeRate(limit), retryAfterMs, queue: toQueue(queues, name) };
}

/** A queue while somebody is in it. */
interface OpenQueue {
  readonly line: Line<Waiter>;
  readonly turns: Turns;
  arrivals: number;
  isLooking: boolean;
}

interface Waiter extends Standing {
  readonly look: () => void;
  isInLine: boolean;
}

function toQueue(queues: Map<string, OpenQueue>, name: string): RateQueue {
  function advance(queue: OpenQueue): void {
    const next = queue.line.shift();
    queue.isLooking = next !== undefined;
    if (next === undefined) return void queues.delete(name);
    next.isInLine = false;
    queue.turns.went(next.turn);
    next.look();
  }

  return {
    limit: queues,
    name,
    enter(user, priority) {
      const queue = queues.get(name) ?? { line: createLine(), turns: createTurns(), arrivals: 0, isLooking: false };
      queues.set(name, queue);
      const { promise: turn, resolve: look } = Promise.withResolvers<void>();
      queue.arrivals += 1;
      const place = { turn: queue.turns.next(user, priority), arrival: queue.arrivals, index: 0 };
      const waiter: Waiter = { ...place, look, isInLine: true };
      queue.line.add(waiter);
      if (!queue.isLooking) advance(queue);
      const leave = (): void => {
        if (waiter.isInLine) queue.line.remove(waiter);
        else advance(queue);
      };
      return { turn, leave };
    },
  };
}
