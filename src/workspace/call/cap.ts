import type { OkOutcome, OutputHead, ToolOutcome } from "../../core/outcome.ts";
import { describeShape } from "../describe-shape.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./phase.ts";

/** How much of an output that is too large is handed over, in characters. */
const headLength = 2000;

/**
 * Keeps an output that is too large to hand over, and hands over its head, its shape and a handle. A call inside a call gets
 * the whole: it goes to code, not to a model.
 */
export const cap: Phase = async (call, next) => {
  const outcome = await next();
  if (outcome.status === "failed" || call.depth > 0) return outcome;
  const maxBytes = call.options.maxOutputBytes ?? call.limit("maxOutputBytes");
  return call.outputBytes > maxBytes ? keep(call, outcome) : outcome;
};

async function keep(call: Call, outcome: OkOutcome): Promise<ToolOutcome> {
  const { output } = outcome;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  try {
    const capped = await call.host.outputs.keep(text);
    const head: OutputHead = { head: text.slice(0, headLength), shape: describeShape(output), ...capped };
    call.emit({ type: "output-capped", call: call.id, capped });
    return { ...outcome, output: { ...head }, capped };
  } catch (cause) {
    return call.fail("store-failed", { reason: cause instanceof Error ? cause.message : String(cause), ran: true });
  }
}
