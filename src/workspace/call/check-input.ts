import type { FailedOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./phase.ts";

/** Checks the input: lenient changes and defaults, the schema, then what the author's own schema library says. */
export const checkInput: Phase = async (call, next) => {
  const { tool, copy } = call;
  if (tool === undefined) return next();
  if (!copy.ok) return refuseCopy(call);
  const failed = await checkFor(call, tool, copy.value);
  if (failed !== undefined) return failed;
  if (call.coerced.length > 0) call.emit({ type: "input-coerced", call: call.id, coerced: call.coerced });
  const outcome = await next();
  return outcome.status === "ok" && call.coerced.length > 0 ? { ...outcome, coerced: call.coerced } : outcome;
};

/** Checks `input` for the tool of `call`, and remembers it there if it is right. */
export async function checkFor(call: Call, tool: Tool, input: JsonValue): Promise<FailedOutcome | undefined> {
  const checked = checkLeniently(tool.inputSchema, input);
  if (!checked.ok) return call.fail("input-invalid", { tool: call.address, problems: checked.problems });
  call.checked = checked.value;
  call.refined = checked.value;
  if (checked.coerced.length > 0) call.coerced = [...call.coerced, ...checked.coerced];
  if (tool.refine === undefined) return undefined;
  return refine(call, tool.refine, checked.value);
}

async function refine(
  call: Call,
  refineInput: NonNullable<Tool["refine"]>,
  input: JsonValue,
): Promise<FailedOutcome | undefined> {
  try {
    const answer = refineInput(input);
    const refined = answer instanceof Promise ? await answer : answer;
    if (!refined.ok) return call.fail("input-invalid", { tool: call.address, problems: refined.problems });
    call.refined = refined.value;
    return undefined;
  } catch (cause) {
    const found = `its schema threw: ${cause instanceof Error ? cause.message : String(cause)}`;
    const problem = { path: "", expected: "a value its schema accepts", found };
    return call.fail("input-invalid", { tool: call.address, problems: [problem] });
  }
}

function refuseCopy(call: Call): FailedOutcome {
  const { copy } = call;
  const tooLarge = { path: "", expected: `at most ${call.limit("maxInputBytes")} bytes of JSON`, found: "more" };
  const problem = !copy.ok && copy.reason === "not-json" ? copy.problem : tooLarge;
  return call.fail("input-invalid", { tool: call.address, problems: [problem] });
}
