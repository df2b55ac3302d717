import { describeCause } from "./error-texts.ts";
import type { Failure } from "./errors.ts";
import { cloneJson, isRecord, showValue, type JsonObject, type JsonValue } from "./json.ts";
import type { ToolOutcome } from "./outcome.ts";
import { allKinds, defaultKinds, patternRedactor } from "./redaction/pattern-redactor.ts";
import type { RedactionKind } from "./redaction/rules.ts";

/** Where a guard looks: at what a person asks, at what a tool is called with, at what comes of it, at what the model answers. */
export type GuardPlace = "task" | "tool-input" | "tool-output" | "answer";

/** All places there are. */
export const guardPlaces: readonly GuardPlace[] = ["task", "tool-input", "tool-output", "answer"];

/** What a guard is shown. */
export interface Guarded {
  readonly place: GuardPlace;
  /** A copy: a text at `task` and `answer`, JSON elsewhere; of a call that failed, its `message` and `details`. */
  readonly value: JsonValue;
  /** The address of the tool, at `tool-input` and `tool-output`. */
  readonly tool?: string;
  readonly run?: string;
  readonly step?: number;
  readonly user?: string;
}

/**
 * What a guard says: nothing (it may pass), what to take out of it, what to put in its place, that it may not pass and why, or that a
 * person must be asked and why.
 */
export type GuardVerdict =
  | undefined
  | void
  | { readonly redact: true | readonly RedactionKind[] }
  | { readonly change: JsonValue }
  | { readonly refuse: string }
  | { readonly ask: string };

/**
 * One guard of a list. Each is shown what those before it have left; the first that refuses ends it.
 *
 * **Contract**: may be asynchronous. One that throws, or answers with something else than a verdict, refuses. After a crash it is asked
 * again about what was not finished.
 */
export interface Guard {
  /** Said in events and errors. */
  readonly name: string;
  /** @default all places */
  readonly at?: readonly GuardPlace[];
  check(guarded: Guarded): GuardVerdict | Promise<GuardVerdict>;
}

/** What a guard did. It says nothing of the value. */
export interface GuardAct {
  readonly guard: string;
  readonly place: GuardPlace;
  readonly verdict: "redact" | "change" | "refuse" | "ask";
  /** Why it refuses or asks. */
  readonly reason?: string;
}

/** What all guards together make of a value. */
export interface Judged {
  readonly value: JsonValue;
  readonly acts: readonly GuardAct[];
  /** Set if it may not pass. */
  readonly refused?: GuardAct;
  /** Set if a person must be asked first. */
  readonly asked?: GuardAct;
}

/** Whether one of them looks at `place`. */
export function hasGuardAt(guards: readonly Guard[], place: GuardPlace): boolean {
  return guards.some((guard) => isAt(guard, place));
}

/** The guards that look at one of `places`, and only at those. */
export function guardsOnlyAt(guards: readonly Guard[], places: readonly GuardPlace[]): readonly Guard[] {
  return guards
    .map((guard) => ({
      name: guard.name,
      at: places.filter((place) => isAt(guard, place)),
      check: guard.check.bind(guard),
    }))
    .filter(({ at }) => at.length > 0);
}

function isAt({ at }: Guard, place: GuardPlace): boolean {
  return at === undefined || at.includes(place);
}

/** Shows a value to the guards, in order. Never throws. */
export async function judge(guards: readonly Guard[], guarded: Guarded): Promise<Judged> {
  const { place } = guarded;
  let { value } = guarded;
  const acts: GuardAct[] = [];
  let asked: GuardAct | undefined;
  for (const guard of guards) {
    if (!isAt(guard, place)) continue;
    const verdict = await verdictOf(guard, { ...guarded, value: cloneJson(value) });
    const act = (kind: GuardAct["verdict"], reason?: string): GuardAct => {
      const made = { guard: guard.name, place, verdict: kind, ...(reason !== undefined && { reason }) };
      acts.push(made);
      return made;
    };
    if (verdict === undefined) continue;
    if ("refuse" in verdict) return { value, refused: act("refuse", verdict.refuse), acts };
    if ("ask" in verdict) {
      const question = act("ask", verdict.ask);
      asked ??= question;
    } else if ("change" in verdict) {
      value = verdict.change;
      act("change");
    } else {
      const clean = patternRedactor(verdict.redact === true ? defaultKinds : verdict.redact).value(value);
      if (clean !== value) act("redact");
      value = clean;
    }
  }
  return { value, acts, ...(asked !== undefined && { asked }) };
}

/** What guards see of the outcome of a call: the output, or the message and the details of the failure. */
export function shownOf(outcome: ToolOutcome): JsonValue {
  if (outcome.status === "ok") return outcome.output;
  const { message, details } = outcome.error;
  return { message, details } as unknown as JsonObject;
}

/** The outcome of a call, with the part that guards saw replaced by what they made of it. */
export function withShown(outcome: ToolOutcome, shown: JsonValue): ToolOutcome {
  if (outcome.status === "ok") return shown === outcome.output ? outcome : { ...outcome, output: shown };
  return { status: "failed", error: { ...outcome.error, ...toShown(shown) } as Failure };
}

/** Guards may put a text, or anything, in the place of a message and its details. */
function toShown(shown: JsonValue): JsonObject {
  if (isRecord(shown) && typeof shown["message"] === "string") return { details: {}, ...shown };
  return { message: typeof shown === "string" ? shown : JSON.stringify(shown), details: {} };
}

type Verdict = Exclude<GuardVerdict, void | undefined>;

async function verdictOf(guard: Guard, guarded: Guarded): Promise<Verdict | undefined> {
  try {
    const verdict: unknown = await guard.check(guarded);
    if (verdict === undefined || verdict === null) return undefined;
    if (isVerdict(verdict, guarded)) return verdict;
    return { refuse: `the guard failed: it answered ${showValue(verdict)}` };
  } catch (cause) {
    return { refuse: `the guard failed: ${describeCause(cause)}` };
  }
}

function isVerdict(verdict: unknown, { value }: Guarded): verdict is Verdict {
  if (typeof verdict !== "object" || verdict === null || Object.keys(verdict).length !== 1) return false;
  const { redact, change, refuse, ask } = verdict as Readonly<Record<string, unknown>>;
  if (typeof refuse === "string" || typeof ask === "string") return true;
  // What is a text stays one.
  if (change !== undefined) return typeof value !== "string" || typeof change === "string";
  return redact === true || (Array.isArray(redact) && redact.every((kind) => allKinds.includes(kind)));
}
