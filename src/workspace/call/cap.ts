import { isKitbagError } from "../../core/errors.ts";
import type { OkOutcome, OutputHead } from "../../core/outcome.ts";
import { cutText } from "../../core/cut-text.ts";
import { describeThrown } from "../describe-thrown.ts";
import { describeShape } from "../outputs/slice-output.ts";
import type { Call } from "./call.ts";
import { type Phase, redactFailure, redactOutcome } from "./phase.ts";

/** How much of an output that is too large is handed over, in characters. */
const headLength = 2000;

/**
 * Redacts secrets in the outcome. Stores an output that is too large, and returns its head, its shape and a handle instead. A nested
 * call gets the whole output, because it goes to code and not to a model, and so does a caller that asks for more than the limit; then
 * only the records show the head.
 */
export const cap: Phase = async (call, next) => {
  const outcome = redactOutcome(call, await next());
  const limit = call.limit("maxOutputBytes");
  const maxBytes = call.options.maxOutputBytes ?? limit;
  if (outcome.status === "failed" || call.outputBytes <= Math.min(limit, maxBytes)) return outcome;
  const isNested = call.parent !== undefined;
  const isWhole = isNested || call.outputBytes <= maxBytes;
  if (isWhole && call.host.store === undefined && !(isNested && call.isHeard())) return outcome;
  try {
    const head = await keep(call, outcome);
    if (!isWhole) return head;
    call.recorded = head;
    return outcome;
  } catch (cause) {
    if (isKitbagError(cause, "quota-reached")) {
      return redactFailure(call, call.fail(cause.code, { ...cause.details, ran: call.ran }));
    }
    return redactFailure(call, call.fail("store-failed", { reason: describeThrown(cause), ran: call.ran }));
  }
};

async function keep(call: Call, outcome: OkOutcome): Promise<OkOutcome> {
  const { output } = outcome;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  const capped = await call.host.outputs.keep(text, call.user);
  const head: OutputHead = { head: cutText(text, headLength), shape: describeShape(output), ...capped };
  // A handle has nothing to hide, and must stay what it is.
  if (call.isHeard()) call.tell({ type: "output-capped", call: call.id, capped });
  return { ...outcome, output: { ...head }, capped };
}
