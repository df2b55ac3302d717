import type { JsonValue } from "../../core/json.ts";
import type { ModelContent, ModelMessage } from "../../models/model.ts";
import { toShownName } from "./shown-name.ts";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type AssistantPart = AssistantMessage["content"][number];

/**
 * Makes the message that an answer is from the next question on. What a provider said of a part goes back to it with the part:
 * signatures of its reasoning, ids of its items. `inputs` are those of the calls, in their order, as they were read. An answer that says
 * nothing is no message: no provider takes one.
 */
export function toAssistantMessage(content: readonly ModelContent[], inputs: Inputs): ModelMessage | undefined {
  const parts: AssistantPart[] = [];
  for (const item of content) {
    const part = toPart(item, inputs);
    if (part !== undefined) parts.push(part);
  }
  return parts.length === 0 ? undefined : { role: "assistant", content: parts };
}

/** Makes the message that an answer is that was cut: its calls are not made, so they must not wait for results. */
export function toCutMessage(content: readonly ModelContent[]): ModelMessage | undefined {
  return toAssistantMessage(
    content.filter(({ type }) => type === "text"),
    new Map(),
  );
}

/** The inputs of calls, by their ids. */
type Inputs = Pick<ReadonlyMap<string, JsonValue>, "get">;

function toPart(item: ModelContent, inputs: Inputs): AssistantPart | undefined {
  const options = item.providerMetadata && { providerOptions: item.providerMetadata };
  switch (item.type) {
    case "text":
    case "reasoning":
      return { type: item.type, text: item.text, ...options };
    case "tool-call": {
      const { toolCallId, toolName, providerExecuted } = item;
      return {
        type: "tool-call",
        toolCallId,
        toolName: toShownName(toolName),
        input: toShownInput(inputs.get(toolCallId)),
        ...(providerExecuted && { providerExecuted }),
        ...options,
      };
    }
    case "tool-result": {
      const { toolCallId, toolName, result, isError } = item;
      const output = { type: isError ? "error-json" : "json", value: result } as const;
      return { type: "tool-result", toolCallId, toolName, output, ...options };
    }
    case "file":
    case "reasoning-file":
      return { type: item.type, data: item.data, mediaType: item.mediaType, ...options };
    case "custom":
      return { type: "custom", kind: item.kind, ...options };
    case "source":
    case "tool-approval-request":
    default:
      // Sources are for people; requests for approval of the provider's own tools are answered elsewhere.
      return undefined;
  }
}

/** Providers take objects alone: what a call was made of that was none is said with what came of it. */
function toShownInput(input: JsonValue | undefined): JsonValue {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}
