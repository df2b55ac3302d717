import fc from "fast-check";
import { expect } from "vitest";

import { isKitbagError } from "../../src/core/errors.ts";
import type { Job, Queue } from "../../src/core/store.ts";

/** A queue under test, with the clock that it goes by. */
export interface QueueWorld {
  readonly queue: Queue;
  now(): number;
  advance(ms: number): void;
}

interface ModelJob {
  readonly id: string;
  priority: number;
  attempt: number;
  isClaimed: boolean;
  /** From when on it may be claimed. */
  readyAt: number;
}

/** What must be in the queue, and what everybody who ever claimed something still holds in their hands. */
interface QueueModel {
  readonly jobs: Map<string, ModelJob>;
  readonly held: Job[];
}

type Command = fc.AsyncCommand<QueueModel, QueueWorld>;

/**
 * Any use of a queue by workers that are quick, slow, dead or back from the dead: it answers as the model does. Time only goes
 * forward. `createWorld` is called once for each try.
 */
export function queueProperty(createWorld: () => QueueWorld): fc.IAsyncProperty<[Iterable<Command>]> {
  return fc.asyncProperty(fc.commands(commands(), { maxCommands: 60, size: "max" }), async (sequence) => {
    const model: QueueModel = { jobs: new Map(), held: [] };
    await fc.asyncModelRun(() => ({ model, real: createWorld() }), sequence);
  });
}

function commands(): fc.Arbitrary<Command>[] {
  const ms = fc.constantFrom(0, 1, 10, 25, 100);
  const leaseMs = fc.constantFrom(1, 10, 50);
  return [
    fc.tuple(fc.constantFrom("a", "b", "c", "__proto__"), fc.constantFrom(-1, 0, 0, 5), ms).map(toAdd),
    fc.tuple(leaseMs, fc.nat(3)).map(toClaim),
    fc.tuple(leaseMs, fc.nat(3)).map(toClaim),
    fc.tuple(fc.nat(20), leaseMs).map(toExtend),
    fc.nat(20).map(toComplete),
    fc.tuple(fc.nat(20), ms).map(toRelease),
    ms.map(toAdvance),
  ];
}

function toCommand(name: string, act: (model: QueueModel, world: QueueWorld) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, world) {
      await act(model, world);
      expect(await world.queue.count()).toEqual(countOf(model, world.now()));
    },
    toString: () => name,
  };
}

function countOf({ jobs }: QueueModel, now: number): Awaited<ReturnType<Queue["count"]>> {
  const later = [...jobs.values()].filter(({ readyAt }) => readyAt > now);
  const claimed = later.filter(({ isClaimed }) => isClaimed).length;
  return { ready: jobs.size - later.length, delayed: later.length - claimed, claimed };
}

function toAdd([id, priority, delayMs]: [string, number, number]): Command {
  return toCommand(`add ${id} ${priority} ${delayMs}`, async ({ jobs }, { queue, now }) => {
    const readyAt = now() + delayMs;
    const known = jobs.get(id);
    const isNew = known === undefined;
    if (isNew) jobs.set(id, { id, priority, attempt: 0, isClaimed: false, readyAt });
    else if (!known.isClaimed) {
      known.priority = Math.max(known.priority, priority);
      known.readyAt = Math.min(known.readyAt, readyAt);
    }

    expect(await queue.add(id, { priority, delayMs })).toBe(isNew);
  });
}

function toClaim([leaseMs, limit]: [number, number]): Command {
  return toCommand(`claim ${leaseMs} ${limit}`, async ({ jobs, held }, { queue, now }) => {
    const ready = [...jobs.values()].filter(({ readyAt }) => readyAt <= now());
    const expected = ready.map(toRank).toSorted(byRank).slice(0, limit);

    const claimed = await queue.claim({ leaseMs, limit });

    // Which of those that became ready at the same moment comes first is not said.
    expect(claimed.map(({ id }) => toRank(jobs.get(id)))).toEqual(expected);
    for (const { id, attempt } of claimed) {
      const job = jobs.get(id) as ModelJob;
      Object.assign(job, { attempt: job.attempt + 1, isClaimed: true, readyAt: now() + leaseMs });
      expect(attempt).toBe(job.attempt);
    }
    held.push(...claimed);
  });
}

type Rank = readonly [priority: number, readyAt: number];

function toRank(job: ModelJob | undefined): Rank {
  return [job?.priority ?? Number.NaN, job?.readyAt ?? Number.NaN];
}

function byRank(left: Rank, right: Rank): number {
  return right[0] - left[0] || left[1] - right[1];
}

function toExtend([index, leaseMs]: [number, number]): Command {
  return withHeld(`extend ${index} ${leaseMs}`, index, {
    act: ({ queue }, job) => queue.extend(job, leaseMs),
    apply: (job, now) => void (job.readyAt = now + leaseMs),
  });
}

function toComplete(index: number): Command {
  return withHeld(`complete ${index}`, index, {
    act: ({ queue }, job) => queue.complete(job),
    apply: (job, _now, { jobs }) => void jobs.delete(job.id),
  });
}

function toRelease([index, delayMs]: [number, number]): Command {
  return withHeld(`release ${index} ${delayMs}`, index, {
    act: ({ queue }, job) => queue.release(job, { delayMs }),
    apply: (job, now) => void Object.assign(job, { isClaimed: false, readyAt: now + delayMs }),
  });
}

interface HeldAction {
  readonly act: (world: QueueWorld, job: Job) => Promise<void>;
  readonly apply: (job: ModelJob, now: number, model: QueueModel) => void;
}

/** Does something with one of the jobs that were ever claimed: whoever lost it must be told, and change nothing. */
function withHeld(name: string, index: number, { act, apply }: HeldAction): Command {
  return toCommand(name, async (model, world) => {
    const job = model.held[index % Math.max(1, model.held.length)];
    if (!job) return;
    const known = model.jobs.get(job.id);
    const isLost = !known?.isClaimed || known.attempt !== job.attempt;

    const refusal = await act(world, job).catch((cause: unknown) => cause);

    expect(isKitbagError(refusal, "job-lost")).toBe(isLost);
    if (!isLost && known) apply(known, world.now(), model);
  });
}

function toAdvance(ms: number): Command {
  return toCommand(`advance ${ms}`, async (_model, world) => world.advance(ms));
}
