import { createHeap, type Heap } from "../../core/heap.ts";
import { describeCalls } from "../rates/rate-limit.ts";
import type { OpenPermits, SharedPermits } from "../rates/shared-permits.ts";
import { byTurn, createFairOrder, type FairOrder, type Numbered } from "../rates/fair-order.ts";

/** What a place is wanted for. */
export interface SlotRequest {
  /** Whether it is a call from outside. One inside a call uses that one's place in the total. */
  readonly isRoot: boolean;
  /** The tool, if it has only so many places; `isShared` if all processes have so many together. */
  readonly limited?: { readonly tool: string; readonly max: number; readonly isShared: boolean };
}

/** One of the places in total, of no tool. */
export const anyPlace: SlotRequest = { isRoot: true };

/** Who waits. */
export interface Waiting {
  readonly user: string;
  readonly priority: number;
}

/**
 * Places for calls that run at once: so many in total, so many for each tool. Who finds none waits in line. Users take turns,
 * higher priorities go first, and a call inside a call goes before those from outside: a call that has a place waits for it.
 */
export interface Slots {
  /** Takes a place if one is free. */
  take(request: SlotRequest): boolean;
  /** Says in words which limit a request has reached that finds no place: `3 calls at once per tool`. */
  describeFull(request: SlotRequest): string;
  /**
   * Takes a place if one is free, after `take` found none in this process; else answers which limit is reached, like `describeFull`.
   * Rejects with what the store throws.
   */
  takeElsewhere(request: SlotRequest): Promise<string | undefined>;
  /**
   * Waits for a place, after `take` found none. `leave` stops waiting, and gives the place back if it has just come. Rejects with what
   * the store throws.
   */
  wait(request: SlotRequest, who?: Waiting): { readonly promise: Promise<void>; leave(): void };
  /** Gives the place back. */
  free(request: SlotRequest): void;
}

const noUser: Waiting = { user: "", priority: 0 };

/** How many places a workspace has. */
export interface SlotLimits {
  readonly maxTotal: number;
  /** For whom so many are, in words. @default all calls */
  readonly per?: string;
  /** All processes together. @default Infinity */
  readonly maxTogether?: number;
  /** What they are called where all processes share them. @default "workspace" */
  readonly name?: string;
  /** Where places come from that are shared. */
  readonly openPermits: OpenPermits;
}

/** Makes the places of a workspace. */
export function createSlots(limits: SlotLimits): Slots {
  const state = createState(limits);

  function free({ isRoot, limited }: SlotRequest): void {
    const places = limited && state.tools.get(limited.tool);
    if (isRoot) state.total -= 1;
    if (places !== undefined) places.running -= 1;
    advance(state, places);
  }

  return {
    take: (request) => take(state, request),
    takeElsewhere: (request) => takeElsewhere(state, request),
    describeFull: (request) => describeFull(state, request),
    wait(request, who = noUser) {
      const { promise, resolve: enter, reject: fail } = Promise.withResolvers<void>();
      const waiter = standInLine(state, { ...request, ...who }, { enter, fail });
      const leave = (): void => (waiter.line === undefined ? free(request) : leaveLine(state, waiter));
      return { promise, leave };
    },
    free,
  };
}

function createState({ maxTotal, per, maxTogether = Infinity, name = "workspace", openPermits }: SlotLimits): State {
  const state: State = {
    maxTotal,
    per,
    maxTogether,
    openPermits,
    permits: undefined,
    total: 0,
    arrivals: 0,
    waiting: 0,
    order: createFairOrder(),
    line: createHeap<Waiter>(byTurn),
    tools: new Map(),
  };
  if (maxTogether === Infinity) return state;
  const onMore = (): void => advance(state, undefined);
  const onFailed = (cause: unknown): void => failAll(state, state.line, cause);
  state.permits = openPermits(name, maxTogether, { onMore, onFailed });
  return state;
}

function take(state: State, { isRoot, limited }: SlotRequest): boolean {
  const places = limited && placesOf(state, limited);
  // No call is overtaken: a waiting call takes a place as soon as it is free.
  if ((isRoot && isFull(state)) || (places !== undefined && isToolFull(places))) return false;
  occupy(state, isRoot, places);
  return true;
}

async function takeElsewhere(state: State, request: SlotRequest): Promise<string | undefined> {
  const places = request.limited && placesOf(state, request.limited);
  if (places !== undefined) places.visitors += 1;
  const releases: ((() => void) | undefined)[] = [];
  try {
    releases.push(await places?.permits?.grow());
    if (request.isRoot) releases.push(await state.permits?.grow());
    return take(state, request) ? undefined : describeFull(state, request);
  } finally {
    for (const release of releases) release?.();
    if (places !== undefined) places.visitors -= 1;
    advance(state, places);
  }
}

function describeFull({ tools, total, maxTotal, maxTogether, per }: State, { limited }: SlotRequest): string {
  const places = limited && tools.get(limited.tool);
  if (places !== undefined && isToolFull(places)) return `${describeCalls(places.max)} at once per tool`;
  const whose = per === undefined ? "" : ` per ${per}`;
  return `${describeCalls(total < maxTotal ? maxTogether : maxTotal)} at once${whose}`;
}

interface State {
  readonly maxTotal: number;
  readonly per: string | undefined;
  readonly maxTogether: number;
  readonly openPermits: OpenPermits;
  /** Of the places in total that all processes share. */
  permits: SharedPermits | undefined;
  total: number;
  arrivals: number;
  /** How many stand in some line. */
  waiting: number;
  readonly order: FairOrder;
  /** Those from outside who have a place of their tool, so that only one in total is missing. */
  readonly line: Heap<Waiter>;
  /** Only tools that are in use now. */
  readonly tools: Map<string, ToolPlaces>;
}

/** The places of one tool. */
interface ToolPlaces {
  readonly tool: string;
  max: number;
  /** What is there of them for this process, if they are shared. */
  permits: SharedPermits | undefined;
  running: number;
  /** How many calls from outside have a place of this tool reserved and wait for a place in total. */
  promised: number;
  /** How many calls check at this moment whether a place is free in another process, without waiting in line. */
  visitors: number;
  readonly inside: Heap<Waiter>;
  readonly outside: Heap<Waiter>;
}

interface Waiter extends Numbered {
  readonly isRoot: boolean;
  readonly places: ToolPlaces | undefined;
  readonly enter: () => void;
  readonly fail: (cause: unknown) => void;
  /** Where it stands; nowhere once it has a place. */
  line: Heap<Waiter> | undefined;
}

function placesOf(state: State, limited: NonNullable<SlotRequest["limited"]>): ToolPlaces {
  const { tool, max } = limited;
  const known = state.tools.get(tool);
  if (known === undefined) return openPlaces(state, limited);
  if (known.max !== max) {
    // The tool was replaced by one with another limit.
    known.max = max;
    if (known.permits !== undefined) known.permits.max = max;
    advance(state, known);
  }
  return known;
}

function openPlaces(state: State, { tool, max, isShared }: NonNullable<SlotRequest["limited"]>): ToolPlaces {
  const places: ToolPlaces = {
    tool,
    max,
    permits: undefined,
    running: 0,
    promised: 0,
    visitors: 0,
    inside: createHeap<Waiter>(byTurn),
    outside: createHeap<Waiter>(byTurn),
  };
  if (isShared) {
    const onMore = (): void => advance(state, places);
    const onFailed = (cause: unknown): void => {
      for (const line of [places.inside, places.outside]) failAll(state, line, cause);
    };
    places.permits = state.openPermits(`tool:${tool}`, max, { onMore, onFailed });
  }
  state.tools.set(tool, places);
  return places;
}

function isFull({ total, maxTotal, permits }: State): boolean {
  return total >= maxTotal || (permits !== undefined && total >= permits.size());
}

function isToolFull(places: ToolPlaces): boolean {
  return places.running >= roomOf(places);
}

/** How many of a tool may run in this process now. */
function roomOf({ max, permits }: ToolPlaces): number {
  return permits === undefined ? max : Math.min(max, permits.size());
}

/** Fails all calls in a line. */
function failAll(state: State, line: Heap<Waiter>, cause: unknown): void {
  for (let waiter = line.first(); waiter !== undefined; waiter = line.first()) {
    leaveLine(state, waiter);
    waiter.line = undefined;
    waiter.fail(cause);
  }
}

function occupy(state: State, isRoot: boolean, places: ToolPlaces | undefined): void {
  if (isRoot) state.total += 1;
  if (places !== undefined) places.running += 1;
}

function standInLine(
  state: State,
  request: SlotRequest & Waiting,
  { enter, fail }: Pick<Waiter, "enter" | "fail">,
): Waiter {
  const { isRoot, limited, user, priority } = request;
  state.arrivals += 1;
  state.waiting += 1;
  const places = limited && placesOf(state, limited);
  const turn = state.order.next(user, priority);
  const waiter: Waiter = { turn, arrival: state.arrivals, isRoot, places, enter, fail, line: undefined };
  if (places === undefined) stand(waiter, state.line);
  else stand(waiter, isRoot ? places.outside : places.inside);
  advance(state, places);
  return waiter;
}

function takeFirst(line: Heap<Waiter>): Waiter {
  const first = line.first() as Waiter;
  line.remove(first);
  return first;
}

function stand(waiter: Waiter, line: Heap<Waiter>): void {
  waiter.line = line;
  line.add(waiter);
}

function leaveLine(state: State, waiter: Waiter): void {
  const { places, line } = waiter;
  line?.remove(waiter);
  stopWaiting(state);
  if (places !== undefined && line === state.line) places.promised -= 1;
  advance(state, places);
}

/** Lets in the calls that can go now, after something became free: a place of the tool, a place in total, or a promised place. */
function advance(state: State, places: ToolPlaces | undefined): void {
  if (places !== undefined) advanceTool(state, places);
  state.permits?.need(state.total, state.line.size);
  while (!isFull(state) && state.line.size > 0) advanceLine(state);
}

function advanceTool(state: State, places: ToolPlaces): void {
  const { inside, outside, permits } = places;
  permits?.need(places.running, inside.size + outside.size + places.promised);
  while (!isToolFull(places) && inside.size > 0) letIn(state, takeFirst(inside));
  while (places.running + places.promised < roomOf(places) && outside.size > 0) {
    stand(takeFirst(outside), state.line);
    places.promised += 1;
  }
  const inUse = places.running + places.promised + places.visitors + inside.size + outside.size;
  if (inUse === 0 && state.tools.get(places.tool) === places) state.tools.delete(places.tool);
}

/** Lets in the first of those who wait for a place in total. */
function advanceLine(state: State): void {
  const waiter = takeFirst(state.line);
  const { places } = waiter;
  if (places === undefined) return letIn(state, waiter);
  places.promised -= 1;
  // A call inside a call may have taken the place that was promised, or another process.
  if (isToolFull(places)) stand(waiter, places.outside);
  else letIn(state, waiter);
}

function letIn(state: State, waiter: Waiter): void {
  waiter.line = undefined;
  state.order.went(waiter.turn);
  stopWaiting(state);
  occupy(state, waiter.isRoot, waiter.places);
  waiter.enter();
}

function stopWaiting(state: State): void {
  state.waiting -= 1;
  if (state.waiting === 0) state.order.reset();
}
