import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ModelCall, ModelTool } from "../../models/model.ts";

/** What a model is shown beside the conversation. */
export interface Shown {
  readonly system: string;
  readonly tools: readonly JsonObject[];
}

/** Takes from a question what is shown beside the conversation. */
export function toShownBeside({ prompt, tools = [] }: ModelCall): Shown {
  const [first] = prompt;
  return {
    system: first?.role === "system" ? first.content : "",
    tools: (tools as readonly ModelTool[]).map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      // A tool of the provider's own has no schema.
      inputSchema: (inputSchema ?? {}) as JsonValue as JsonObject,
    })),
  };
}

/** Writes before each answer what its question showed, where it is not what the one before showed. */
export function addShown(events: readonly JsonObject[], asked: readonly ModelCall[]): readonly JsonObject[] {
  const questions = withoutRepeats(asked).values();
  let last: string | undefined;
  return events.flatMap((event) => {
    if (event["type"] !== "model-answer") return [event];
    const { value: call } = questions.next();
    if (call === undefined) return [event];
    const shown = JSON.stringify(toShownBeside(call));
    if (shown === last) return [event];
    last = shown;
    return [{ type: "model-shown", ...(JSON.parse(shown) as JsonObject) }, event];
  });
}

/** A question that was asked again, because nobody answered, is one question. */
function withoutRepeats(asked: readonly ModelCall[]): readonly ModelCall[] {
  let last: string | undefined;
  return asked.filter(({ prompt }) => {
    const text = JSON.stringify(prompt);
    const isNew = text !== last;
    last = text;
    return isNew;
  });
}
