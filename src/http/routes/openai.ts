import type { JsonObject, JsonValue } from "../../core/json.ts";
import { operation } from "../operation.ts";
import { fromOpenAiMessages, refuseTools, type EndedRun } from "../protocols/openai.ts";
import { toChatChunks, toChatCompletion } from "../protocols/openai-chat.ts";
import { toResponse, toResponseEvents } from "../protocols/openai-responses.ts";
import { startRun, streamRun, toResult } from "../start-runs.ts";

const text = { type: "string" } as const;

const common = {
  model: { ...text, description: "The name of an agent, as GET /v1/models lists them" },
  stream: { type: "boolean", default: false },
  tools: { description: "Must be left out: the agent has tools of its own" },
} as const;

/** Agents as models, for every client of OpenAI's two protocols: its base URL is the address of the API with `/v1`. */
export const openAiOperations = {
  "openai.models": operation("openai.models", {
    summary: "Lists the agents as models, for clients of OpenAI.",
    scope: "runs",
    answer: { type: "object" },
    handle: ({ parts }): JsonObject => ({
      object: "list",
      data: Object.keys(parts.agents ?? {}).map((id) => ({ id, object: "model", created: 0, owned_by: "kitbag" })),
    }),
  }),
  "openai.chat": operation("openai.chat", {
    summary: "Answers with an agent in the form of OpenAI's chat completions.",
    scope: "runs",
    input: {
      type: "object",
      properties: { ...common, messages: { type: "array", items: { type: "object" }, minItems: 1 } },
      required: ["model", "messages"],
    },
    answer: { type: "object" },
    isStream: ({ stream }) => stream,
    async handle(context, { model, messages, tools }) {
      refuseTools(tools);
      const run = startRun(context, { agent: model, task: await fromOpenAiMessages(messages) });
      return toChatCompletion(toResult(await run.result) as EndedRun, model);
    },
    async stream(context, { model, messages, tools }) {
      refuseTools(tools);
      const run = startRun(context, { agent: model, task: await fromOpenAiMessages(messages) });
      return toChatChunks(streamRun(context, run), { run: run.id, agent: model });
    },
  }),
  "openai.responses": operation("openai.responses", {
    summary: "Answers with an agent in the form of OpenAI's responses.",
    scope: "runs",
    input: {
      type: "object",
      properties: {
        ...common,
        input: { description: "A text, or messages" },
        previous_response_id: { type: "null", description: "Not kept here: send the whole input" },
      },
      required: ["model", "input"],
    },
    answer: { type: "object" },
    isStream: ({ stream }) => stream,
    async handle(context, { model, input, tools }) {
      refuseTools(tools);
      const run = startRun(context, { agent: model, task: await fromOpenAiMessages(toMessages(input)) });
      return toResponse(toResult(await run.result) as EndedRun, model);
    },
    async stream(context, { model, input, tools }) {
      refuseTools(tools);
      const run = startRun(context, { agent: model, task: await fromOpenAiMessages(toMessages(input)) });
      return toResponseEvents(streamRun(context, run), { run: run.id, agent: model });
    },
  }),
} as const;

function toMessages(input: JsonValue): readonly JsonValue[] {
  return Array.isArray(input) ? (input as readonly JsonValue[]) : [{ role: "user", content: input }];
}
