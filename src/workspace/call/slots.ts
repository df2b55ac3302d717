import { describeCalls } from "../rates/rate-limit.ts";
import { createTurns, type Turns } from "../rates/turns.ts";
import { createLine, type Line, type Standing } from "./line.ts";

/** What a place is wanted for. */
export interface SlotRequest {
  /** Whether it is a call from outside. One inside a call uses that one's place in the total. */
  readonly isRoot: boolean;
  /** The tool, if it has only so many places. */
  readonly limited?: { readonly tool: string; readonly max: number };
}

/** Who waits. */
export interface Waiting {
  readonly user: string;
  readonly priority: number;
}

/**
 * Places for calls that run at once: so many in total, so many for each tool. Who finds none waits in line. Users take turns,
 * higher priorities go first, and a call inside a call goes before those from outside: somebody who has a place waits for it.
 */
export interface Slots {
  /** Takes a place if one is free. */
  take(request: SlotRequest): boolean;
  /** Says in words which limit a request has reached that finds no place: `3 calls at once per tool`. */
  describeFull(request: SlotRequest): string;
  /** Waits for a place, after `take` found none. `leave` stops waiting, and gives the place back if it has just come. */
  wait(request: SlotRequest, who?: Waiting): { readonly promise: Promise<void>; leave(): void };
  /** Gives the place back. */
  free(request: SlotRequest): void;
}

const nobody: Waiting = { user: "", priority: 0 };

/** Makes the places of a workspace. */
export function createSlots(maxTotal: number): Slots {
  const state: State = {
    maxTotal,
    total: 0,
    arrivals: 0,
    waiting: 0,
    turns: createTurns(),
    line: createLine(),
    tools: new Map(),
  };

  function free({ isRoot, limited }: SlotRequest): void {
    const places = limited && state.tools.get(limited.tool);
    if (isRoot) state.total -= 1;
    if (places !== undefined) places.running -= 1;
    advance(state, places);
  }

  return {
    take({ isRoot, limited }) {
      const places = limited && placesOf(state, limited);
      // Nobody is overtaken: whoever waits for a place that is free has been let in.
      if ((isRoot && state.total >= maxTotal) || (places !== undefined && places.running >= places.max)) return false;
      occupy(state, isRoot, places);
      return true;
    },
    describeFull({ limited }) {
      const places = limited && state.tools.get(limited.tool);
      const isToolFull = places !== undefined && places.running >= places.max;
      return isToolFull ? `${describeCalls(places.max)} at once per tool` : `${describeCalls(maxTotal)} at once`;
    },
    wait(request, who = nobody) {
      const { promise, resolve: enter } = Promise.withResolvers<void>();
      const waiter = standInLine(state, { ...request, ...who }, enter);
      const leave = (): void => (waiter.line === undefined ? free(request) : leaveLine(state, waiter));
      return { promise, leave };
    },
    free,
  };
}

interface State {
  readonly maxTotal: number;
  total: number;
  arrivals: number;
  /** How many stand in some line. */
  waiting: number;
  readonly turns: Turns;
  /** Those from outside who have a place of their tool, so that only one in total is missing. */
  readonly line: Line<Waiter>;
  /** Only tools that are in use now. */
  readonly tools: Map<string, ToolPlaces>;
}

/** The places of one tool. */
interface ToolPlaces {
  readonly tool: string;
  max: number;
  running: number;
  /** So many of those from outside stand in line for a place in total. */
  promised: number;
  readonly inside: Line<Waiter>;
  readonly outside: Line<Waiter>;
}

interface Waiter extends Standing {
  readonly isRoot: boolean;
  readonly places: ToolPlaces | undefined;
  readonly enter: () => void;
  /** Where it stands; nowhere once it has a place. */
  line: Line<Waiter> | undefined;
}

function placesOf(state: State, { tool, max }: NonNullable<SlotRequest["limited"]>): ToolPlaces {
  let places = state.tools.get(tool);
  if (places === undefined) {
    places = { tool, max, running: 0, promised: 0, inside: createLine(), outside: createLine() };
    state.tools.set(tool, places);
  } else if (places.max !== max) {
    // The tool was replaced by one with another limit.
    places.max = max;
    advance(state, places);
  }
  return places;
}

function occupy(state: State, isRoot: boolean, places: ToolPlaces | undefined): void {
  if (isRoot) state.total += 1;
  if (places !== undefined) places.running += 1;
}

function standInLine(state: State, request: SlotRequest & Waiting, enter: () => void): Waiter {
  const { isRoot, limited, user, priority } = request;
  state.arrivals += 1;
  state.waiting += 1;
  const places = limited && placesOf(state, limited);
  const turn = state.turns.next(user, priority);
  const waiter: Waiter = { turn, arrival: state.arrivals, index: 0, isRoot, places, enter, line: undefined };
  if (places === undefined) stand(waiter, state.line);
  else {
    stand(waiter, isRoot ? places.outside : places.inside);
    advance(state, places);
  }
  return waiter;
}

function stand(waiter: Waiter, line: Line<Waiter>): void {
  waiter.line = line;
  line.add(waiter);
}

function leaveLine(state: State, waiter: Waiter): void {
  const { places, line } = waiter;
  line?.remove(waiter);
  stopWaiting(state);
  if (places === undefined) return;
  if (line === state.line) places.promised -= 1;
  advance(state, places);
}

/** Lets in whoever can go now, after something became free: a place of the tool, a place in total, or a promised place. */
function advance(state: State, places: ToolPlaces | undefined): void {
  if (places !== undefined) {
    while (places.running < places.max && !places.inside.isEmpty()) {
      letIn(state, places.inside.shift() as Waiter);
    }
    while (places.running + places.promised < places.max && !places.outside.isEmpty()) {
      stand(places.outside.shift() as Waiter, state.line);
      places.promised += 1;
    }
    if (places.running + places.promised === 0) state.tools.delete(places.tool);
  }
  while (state.total < state.maxTotal && !state.line.isEmpty()) advanceLine(state);
}

/** Lets in the first of those who wait for a place in total. */
function advanceLine(state: State): void {
  const waiter = state.line.shift() as Waiter;
  const { places } = waiter;
  if (places === undefined) return letIn(state, waiter);
  places.promised -= 1;
  // A call inside a call may have taken the place that was promised.
  if (places.running >= places.max) stand(waiter, places.outside);
  else letIn(state, waiter);
}

function letIn(state: State, waiter: Waiter): void {
  waiter.line = undefined;
  state.turns.went(waiter.turn);
  stopWaiting(state);
  occupy(state, waiter.isRoot, waiter.places);
  waiter.enter();
}

function stopWaiting(state: State): void {
  state.waiting -= 1;
  if (state.waiting === 0) state.turns.reset();
}
