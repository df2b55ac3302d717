import type { Problem } from "../../core/errors.ts";
import type { JsonCopy, JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { Refined } from "../../core/schema/to-schema.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import { type Next, type Phase, raceStop } from "./phase.ts";

/** Checks the input: lenient changes and defaults, the schema, then what the author's own schema library says. */
export const checkInput: Phase = (call, next) => {
  call.inputTaken = true;
  const failed = takeInput(call, call.copy);
  if (failed !== undefined) return failed;
  return call.entry.tool.refine === undefined ? next() : refineFirst(call, next);
};

async function refineFirst(call: Call, next: Next): Promise<ToolOutcome> {
  return (await refine(call)) ?? next();
}

/** Checks an input that an approval or a guard put in the place of the caller's. */
export async function checkAgain(call: Call, input: unknown): Promise<FailedOutcome | undefined> {
  return takeInput(call, call.copyInput(input)) ?? refine(call);
}

/** Checks `copy` against the schema, and remembers it if it is right. */
function takeInput(call: Call, copy: JsonCopy): FailedOutcome | undefined {
  if (!copy.ok) return refuse(call, [copy.reason === "not-json" ? copy.problem : tooLarge(call)]);
  // The check fills in defaults, in place.
  call.given = findGiven(copy.value);
  const checked = checkLeniently(call.entry.tool.inputSchema, copy.value);
  if (!checked.ok) return refuse(call, checked.problems);
  call.checked = checked.value;
  call.refined = checked.value;
  call.coerced = checked.coerced;
  if (checked.coerced.length > 0) call.emit({ type: "input-coerced", call: call.id, coerced: checked.coerced });
  return undefined;
}

/** `null` stands for a parameter that is left out. */
function findGiven(input: JsonValue): ReadonlySet<string> {
  const entries = typeof input === "object" && input !== null ? Object.entries(input) : [];
  return new Set(entries.flatMap(([name, value]) => (value === null ? [] : [name])));
}

/** Asks the author's schema library, which may take as long as the call may. */
async function refine(call: Call): Promise<FailedOutcome | undefined> {
  const { refine: refineInput } = call.entry.tool;
  if (refineInput === undefined) return undefined;
  call.startClock();
  try {
    const answer = refineInput(call.checked as JsonValue);
    if (!(answer instanceof Promise)) return takeRefined(call, answer);
    const race = await raceStop(call, answer);
    return race.ok ? takeRefined(call, race.value) : { status: "failed", error: race.failure };
  } catch (cause) {
    const found = `its schema threw: ${describeThrown(cause)}`;
    return refuse(call, [{ path: "", expected: "a value its schema accepts", found }]);
  } finally {
    call.endClock();
  }
}

function takeRefined(call: Call, refined: Refined): FailedOutcome | undefined {
  if (!refined.ok) return refuse(call, refined.problems);
  call.refined = refined.value;
  return undefined;
}

function tooLarge(call: Call): Problem {
  return { path: "", expected: `at most ${call.limit("maxInputBytes")} bytes of JSON`, found: "more" };
}

function refuse(call: Call, problems: readonly Problem[]): FailedOutcome {
  return call.fail("input-invalid", { tool: call.address, problems });
}
