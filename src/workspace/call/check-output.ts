import { copyJson, maxJsonDepth } from "../../core/json.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { Phase } from "./phase.ts";

/** Copies the output as JSON and holds it against the tool's schema: a wrong output is a failure, never a success. */
export const checkOutput: Phase = async (call, next) => {
  const outcome = await next();
  if (outcome.status === "failed") return outcome;
  const maxBytes = call.limit("maxKeptBytes");
  const copy = copyJson(outcome.output ?? null, { maxBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    if (copy.reason === "too-large") return call.fail("output-too-large", { tool: call.address, limitBytes: maxBytes });
    return call.fail("output-invalid", { tool: call.address, problems: [copy.problem] });
  }
  call.outputBytes = copy.bytes;
  const { outputSchema } = call.entry.tool;
  const problems = outputSchema === undefined ? [] : checkStrictly(outputSchema, copy.value);
  if (problems.length > 0) return call.fail("output-invalid", { tool: call.address, problems });
  const { coerced } = call;
  return coerced.length === 0 ? { status: "ok", output: copy.value } : { status: "ok", output: copy.value, coerced };
};
