import type { JsonObject } from "../../core/json.ts";
import type { ServerEvent } from "../server-events.ts";
import { answerOf, toTokens, type EndedRun } from "./openai.ts";

/** Which run a response is of. */
interface ResponsePlace {
  readonly run: string;
  readonly agent: string;
}

/** An answer in the form of OpenAI's responses. */
export function toResponse(result: EndedRun, agent: string): JsonObject {
  const place = { run: result.run, agent };
  const { input, output } = toTokens(result.usage);
  return {
    ...toHead(place, result.status === "cut" ? "incomplete" : "completed"),
    output: [toItem(place, answerOf(result), "completed")],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  };
}

/** The events of a run as OpenAI's stream of a response. */
export async function* toResponseEvents(
  events: AsyncIterable<ServerEvent>,
  place: ResponsePlace,
): AsyncIterable<ServerEvent> {
  let sequence = 0;
  const tell = (type: string, facts: JsonObject): ServerEvent => ({
    event: type,
    data: { type, sequence_number: sequence++, ...facts },
  });
  const at = { item_id: `msg-${place.run}`, output_index: 0, content_index: 0 };
  yield tell("response.created", { response: toHead(place, "in_progress") });
  yield tell("response.output_item.added", { output_index: 0, item: toItem(place, undefined, "in_progress") });
  yield tell("response.content_part.added", { ...at, part: toText("") });
  let told = "";
  for await (const { event, data } of events) {
    if (event === "text-delta") {
      const { text } = data as { readonly text: string };
      told += text;
      yield tell("response.output_text.delta", { ...at, delta: text, logprobs: [] });
    }
    if (event !== "result") continue;
    const result = data as unknown as EndedRun;
    const answer = answerOf(result);
    if (told === "" && answer !== "") yield tell("response.output_text.delta", { ...at, delta: answer, logprobs: [] });
    yield tell("response.output_text.done", { ...at, text: answer, logprobs: [] });
    yield tell("response.content_part.done", { ...at, part: toText(answer) });
    yield tell("response.output_item.done", { output_index: 0, item: toItem(place, answer, "completed") });
    yield tell(result.status === "cut" ? "response.incomplete" : "response.completed", {
      response: toResponse(result, place.agent),
    });
  }
}

function toHead({ run, agent }: ResponsePlace, status: string): JsonObject {
  return {
    id: `resp-${run}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    model: agent,
    output: [],
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    temperature: null,
    top_p: null,
  };
}

function toItem({ run }: ResponsePlace, text: string | undefined, status: string): JsonObject {
  return {
    id: `msg-${run}`,
    type: "message",
    role: "assistant",
    status,
    content: text === undefined ? [] : [toText(text)],
  };
}

function toText(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}
