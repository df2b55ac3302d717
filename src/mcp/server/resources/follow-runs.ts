import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError } from "../../../core/errors.ts";
import type { Store } from "../../../core/store.ts";
import { streamPrefix, toRecord, toStream } from "../../../records/runs/run-records.ts";

/** How something of a store is followed. */
export interface Follow {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

/** How often it is looked for runs that began or went on, and for a store that came back. */
const lookMs = 1000;

/** So many runs are looked at, as where they are listed. */
const mostLookedAt = 1000;

/** Follows the journal of one run until it has ended. Never rejects. */
export function followRun(id: string, { store, signal, onChange }: Follow): Promise<void> {
  const stream = toStream(id);
  let last: number | undefined;
  return untilDone(signal, async () => {
    last ??= await store.log.position(stream);
    for await (const { position, value } of store.log.tail(stream, { after: last, signal })) {
      last = position;
      onChange();
      if (toRecord(value)?.type === "run-end") return true;
    }
    // A store that was closed has nothing more to tell.
    return true;
  });
}

/** Where the runs stand: the last position of each; one that has ended changes no more. */
type Standing = ReadonlyMap<string, number | "ended">;

/** Follows which runs there are, and how far they are. A store does not tell of new streams, so it is looked for them. Never rejects. */
export function followRuns({ store, signal, onChange }: Follow): Promise<void> {
  let standing: Standing | undefined;
  return untilDone(signal, async () => {
    const now = await look(store, standing ?? new Map(), signal);
    if (standing !== undefined && isOther(standing, now)) onChange();
    standing = now;
    return false;
  });
}

async function look({ log }: Store, before: Standing, signal: AbortSignal): Promise<Standing> {
  const now = new Map<string, number | "ended">();
  for (const stream of await log.streams({ prefix: streamPrefix, limit: mostLookedAt })) {
    if (signal.aborted) break;
    const known = before.get(stream);
    const position = known === "ended" ? 0 : await log.position(stream);
    now.set(stream, known === "ended" || position === known ? known : await standAt(stream, position));
  }
  return now;

  async function standAt(stream: string, position: number): Promise<number | "ended"> {
    const [last] = await log.read(stream, { after: position - 1, limit: 1 });
    return last !== undefined && toRecord(last.value)?.type === "run-end" ? "ended" : position;
  }
}

function isOther(before: Standing, now: Standing): boolean {
  return before.size !== now.size || [...now].some(([stream, at]) => before.get(stream) !== at);
}

/** Does it again and again, with pauses, until it says that it is done. A store that cannot be reached now is asked again. */
async function untilDone(signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await work()) return;
    } catch (cause) {
      if (!isKitbagError(cause, "store-unavailable")) return;
    }
    await wait(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
