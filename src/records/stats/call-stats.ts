/** How long something took. The quantiles are off by less than 2.2 %. */
export interface TimeStats {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly meanMs: number;
  /** How many took at most so long, if it was asked for; each includes those before it. */
  readonly steps?: readonly TimeStep[];
}

/** How many of the counted times are at most `ms`. */
export interface TimeStep {
  readonly ms: number;
  readonly count: number;
}

/** What is known of some calls together. */
export interface CallFigures {
  readonly calls: number;
  /** How many of them failed. */
  readonly errors: number;
  /** How many were answered without running the tool. */
  readonly recalled: number;
  /** What the tools say that the calls cost, in US dollars; each without the calls inside it, which have their own. */
  readonly costUsd: number;
  /** How often each error came, the most frequent first. */
  readonly codes: readonly { readonly code: string; readonly count: number }[];
  /** From the beginning of a call to its end: with the time it waited, and with the calls inside it. */
  readonly time: TimeStats;
  /** Calls that waited for a place or a limit, and how long; the others are not in it. */
  readonly queue: TimeStats & { readonly calls: number };
  /** Calls in each slice of the time, if it was cut into slices. */
  readonly slices?: readonly number[];
}

/** What is known of the calls of one tool. */
export interface ToolStats extends CallFigures {
  /** Its address; `(unknown)` for calls of what is no tool, `(others)` for tools beyond the first 1,000. */
  readonly tool: string;
}

/** What is known of the calls of all tools of one skill or component. */
export interface OwnerStats extends CallFigures {
  readonly owner: string;
}

/** What is known of the calls of one user. */
export interface UserStats extends CallFigures {
  /** `(others)` for users beyond the first 1,000. */
  readonly user: string;
}

/** What is known of calls, in all, by tool and by owner; the most called first. */
export interface CallStats {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly total: CallFigures;
  readonly tools: readonly ToolStats[];
  /** Skills and components; tools of the workspace itself have no owner. */
  readonly owners: readonly OwnerStats[];
  /** Those who were named as the user of a call, if the calls were counted by user. */
  readonly users?: readonly UserStats[];
}

/** The counts of a workspace, and what it does now. */
export interface LiveStats extends CallStats {
  /** Calls that have begun and are not over, without those that wait. */
  readonly running: number;
  /** Calls that wait for a place or a limit. */
  readonly waiting: number;
}
