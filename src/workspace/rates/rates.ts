import { createHeap, type Heap } from "../../core/heap.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { ToolRate } from "../../core/tool.ts";
import { byTurn, createFairOrder, type FairOrder, type Numbered } from "./fair-order.ts";
import { createRateCounter, type RateCounter } from "./rate-counter.ts";
import { describeRate, type RateLimit } from "./rate-limit.ts";

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
  /** As far as one can tell, if the calls that wait go first. */
  readonly retryAfterMs: number;
  /** There is no room before, whichever call goes first. */
  readonly soonestMs: number;
  /** The calls that wait for the same limit. */
  readonly queue: RateQueue;
}

/** Calls that wait until a limit has room; one at a time looks whether it has. */
export interface RateQueue {
  /** The limit, and whose: where both are the same, it is the same queue. */
  readonly limit: object;
  readonly name: string;
  enter(user: string, priority: number): RatePlace;
}

/** A place in a queue. */
export interface RatePlace {
  /** Resolves when it is this call's turn to look; to be called before each look, because a call may come that goes first. */
  turn(): Promise<void>;
  /** How long until there is room for all calls that wait, as far as one can tell. */
  retryAfterMs(): number;
  /** Lets the next one look. */
  leave(): void;
}

/** How often tools may be called. */
export interface Rates {
  /** Whether there is any limit for this call: most have none. */
  has(subject: RateSubject): boolean;
  /** Counts a call for all its limits or none; answers with the one that it has reached. `isNext` says that it has waited its turn. */
  take(subject: RateSubject, isNext: boolean): Promise<Reached | undefined>;
}

/** Makes the limits of a workspace, counted in `kv`: all processes that share it count together. */
export function createRates(limits: readonly RateLimit[], kv: KeyValueStore): Rates {
  const known = new Map<string, Limiter>();
  const toLimiter = (limit: RateLimit): Limiter => ({
    limit,
    counter: createRateCounter(kv, limit),
    queues: new Map(),
  });
  const fixed = limits.map(toLimiter);

  function limiterOf(tool: string, rate: ToolRate): Limiter {
    const limit: RateLimit = { ...rate, per: "tool", of: tool };
    const before = known.get(tool);
    if (before !== undefined && isSame(before.limit, limit)) return before;
    const limiter = toLimiter(limit);
    known.set(tool, limiter);
    return limiter;
  }

  return {
    has: ({ ownRate }) => fixed.length > 0 || ownRate !== undefined,
    take(subject, isNext) {
      const limiters = fixed.filter(({ limit }) => isFor(limit, subject));
      if (subject.ownRate !== undefined) limiters.push(limiterOf(subject.tool, subject.ownRate));
      return takeAll(limiters, subject, isNext);
    },
  };
}

/** One limit, its counter, and the calls that wait for it by subject. */
interface Limiter {
  readonly limit: RateLimit;
  readonly counter: RateCounter;
  readonly queues: Map<string, OpenQueue>;
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

async function takeAll(
  limiters: readonly Limiter[],
  subject: RateSubject,
  isNext: boolean,
): Promise<Reached | undefined> {
  const now = Date.now();
  for (const limiter of limiters) {
    const held = findHeldUp(limiter, nameOf(limiter.limit.per, subject), isNext, now);
    if (held !== undefined) return held;
  }
  const waits = await Promise.all(
    limiters.map(async ({ counter, limit }) => counter.take(nameOf(limit.per, subject), now)),
  );
  const longest = waits.indexOf(Math.max(0, ...waits));
  const limiter = limiters[longest];
  if (limiter === undefined || waits[longest] === 0) return undefined;
  const taken = limiters.filter((_, index) => waits[index] === 0);
  await Promise.all(taken.map(async ({ counter, limit }) => counter.giveBack(nameOf(limit.per, subject), now)));
  return toReached(limiter, nameOf(limiter.limit.per, subject), waits[longest] as number, now);
}

/** No call is overtaken: one that comes now stands behind those that wait. */
function findHeldUp(limiter: Limiter, name: string, isNext: boolean, now: number): Reached | undefined {
  const open = isNext ? undefined : limiter.queues.get(name);
  if (open === undefined) return undefined;
  const retryAfterMs = waitBehind(limiter, open, open.line.size, now);
  const soonestMs = waitBehind(limiter, open, 0, now);
  return { limit: describeRate(limiter.limit), retryAfterMs, soonestMs, queue: toQueue(limiter, name) };
}

/** How long until there is room behind `count` of the calls that wait. */
function waitBehind({ limit }: Limiter, { roomAt }: OpenQueue, count: number, now: number): number {
  return Math.ceil(Math.max(1, roomAt - now) + (count * limit.inMs) / limit.calls);
}

/** What the counter of a limit says that has no room. */
function toReached(limiter: Limiter, name: string, waitMs: number, now: number): Reached {
  const open = limiter.queues.get(name);
  if (open !== undefined) open.roomAt = now + waitMs;
  const limit = describeRate(limiter.limit);
  return { limit, retryAfterMs: waitMs, soonestMs: waitMs, queue: toQueue(limiter, name) };
}

/** A queue with calls in it. The first in line is the one that looks. */
interface OpenQueue {
  readonly line: Heap<Waiter>;
  readonly order: FairOrder;
  arrivals: number;
  /** When there is room for the first, as it was told when it looked. */
  roomAt: number;
}

interface Waiter extends Numbered {
  look: () => void;
}

function toQueue(limiter: Limiter, name: string): RateQueue {
  const { queues } = limiter;

  /** Changes the line, and tells the call that is first then, if it was not before. */
  function change({ line, order }: OpenQueue, make: () => void): void {
    const before = line.first();
    make();
    const first = line.first();
    if (first === undefined) return void queues.delete(name);
    if (first === before) return;
    order.went(first.turn);
    first.look();
  }

  return {
    limit: queues,
    name,
    enter(user, priority) {
      const queue = queues.get(name) ?? {
        line: createHeap<Waiter>(byTurn),
        order: createFairOrder(),
        arrivals: 0,
        roomAt: 0,
      };
      queues.set(name, queue);
      const { line } = queue;
      queue.arrivals += 1;
      const turn = queue.order.next(user, priority);
      const waiter: Waiter = { turn, arrival: queue.arrivals, look: ignore };
      change(queue, () => line.add(waiter));
      return {
        turn: () => new Promise((resolve) => (line.first() === waiter ? resolve() : (waiter.look = resolve))),
        retryAfterMs: () => waitBehind(limiter, queue, line.size - 1, Date.now()),
        leave: () => change(queue, () => line.remove(waiter)),
      };
    },
  };
}

function ignore(): void {}
