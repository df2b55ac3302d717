import type { JsonObject } from "../../core/json.ts";
import type { ServerEvent } from "../server-events.ts";
import { answerOf, toTokens, type EndedRun } from "./openai.ts";

/** An answer in the form of OpenAI's chat completions. */
export function toChatCompletion(result: EndedRun, agent: string): JsonObject {
  const { input, output } = toTokens(result.usage);
  const message = { role: "assistant", content: answerOf(result), refusal: null };
  return {
    ...toHead(result.run, agent, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: toFinish(result), logprobs: null }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

/** The events of a run as a stream of chat completions: the pieces of the answer's text, and why it ended. */
export async function* toChatChunks(
  events: AsyncIterable<ServerEvent>,
  { run, agent }: { readonly run: string; readonly agent: string },
): AsyncIterable<ServerEvent> {
  const chunk = (delta: JsonObject, finish: string | null = null): ServerEvent => ({
    data: {
      ...toHead(run, agent, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    },
  });
  yield chunk({ role: "assistant", content: "" });
  let told = "";
  for await (const { event, data } of events) {
    if (event === "text-delta") {
      const { text } = data as { readonly text: string };
      told += text;
      yield chunk({ content: text });
    }
    if (event !== "result") continue;
    const result = data as unknown as EndedRun;
    const answer = answerOf(result);
    const rest = told.endsWith(answer)
      ? ""
      : told === "" || !answer.startsWith(told)
        ? answer
        : answer.slice(told.length);
    if (rest !== "") yield chunk({ content: rest });
    yield chunk({}, toFinish(result));
  }
  yield { raw: "[DONE]" };
}

function toHead(run: string, agent: string, object: string): JsonObject {
  return { id: `chatcmpl-${run}`, object, created: Math.floor(Date.now() / 1000), model: agent };
}

function toFinish({ status }: EndedRun): string {
  return status === "cut" ? "length" : "stop";
}
