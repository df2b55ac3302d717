import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ForgeAnswer, SkillAnswer } from "../forge-interface.ts";
import { isNothing } from "../permissions-beyond.ts";

/**
 * What a model gets to see of an answer.
 *
 * @throws {KitbagError} what refused the draft: a failure must not look like success.
 */
export function toOutput(answer: ForgeAnswer | SkillAnswer): JsonObject {
  if (answer.status === "refused") throw new KitbagError(answer.error.code, answer.error.details);
  if (answer.status === "waiting") {
    const { id, makes, name, from, asks, laxer } = answer;
    const what = isNothing(asks) ? "this" : "these permissions";
    const cure = isNothing(asks) ? "leave that as it is" : "make it with fewer";
    const now =
      from === undefined
        ? "It is not live, and nothing of it has run"
        : `Version ${from} stays live, and nothing of the change has run`;
    const next = `${now}: a person must agree to ${what} first, with "kitbag approvals approve ${id}". Tell them, or ${cure}`;
    const wish = { ...(from !== undefined && { from }), asks, ...(laxer !== undefined && { laxer }) };
    return { status: "waiting", id, makes, name, ...wish, next } as unknown as JsonObject;
  }
  // Passed examples are no news.
  if ("examples" in answer) {
    const { examples, diagnostics, ...told } = answer;
    const notes = { examplesPassed: examples.length, ...(diagnostics.length > 0 && { diagnostics }) };
    return { ...told, ...notes } as unknown as JsonObject;
  }
  return answer as unknown as JsonObject;
}

/** The name of a tool that was made here. */
export const toolName: JsonObject = {
  type: "string",
  minLength: 1,
  description: "The name of a tool that was made here",
};

/** A version that must be the live one. */
export const expectedVersion: JsonObject = {
  type: "string",
  description: "The version that you saw: if another one is live by now, nothing is changed",
};

/** An output that is an object of any shape: what is in it depends on what happened. */
export const anyObject: JsonObject = { type: "object", additionalProperties: true };
