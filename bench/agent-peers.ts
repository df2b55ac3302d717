import { join } from "node:path";

import { isStepCount, jsonSchema, streamText, tool } from "ai";

import { benchModel, callSteps } from "./agent-models.ts";

/** Of the tool that every contender has. */
export const addSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;

export interface Sum {
  readonly a: number;
  readonly b: number;
}

/** What a run has to do, the same for every contender. */
export interface Load {
  readonly tools: number;
  /** How many calls the model asks for in each step. */
  readonly calls: number;
  /** What the tool answers; `undefined`: the sum. */
  readonly result?: string;
  /** The messages before the task: as many of the user as of the model. */
  readonly earlier: number;
}

/** So many tools, one call a step, the sum as result, and no messages before. */
export function plainLoad(tools: number): Load {
  return { tools, calls: 1, earlier: 0 };
}

/** Makes a run of AI SDK's `streamText`, whose schemas are converted once. */
export function streamTextRun({ tools: count, calls, result, earlier }: Load): () => Promise<void> {
  const model = benchModel(callSteps, calls);
  const messages = [...earlierMessages(earlier), { role: "user" as const, content: "Add" }];
  const tools = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      index === 0 ? "add" : `tool-${index}`,
      tool({
        description: "Adds two numbers",
        inputSchema: jsonSchema<Sum>(addSchema as never),
        execute: async ({ a, b }: Sum) => result ?? a + b,
      }),
    ]),
  );
  return async () => {
    const { text, steps } = streamText({ model, messages, tools, stopWhen: isStepCount(callSteps + 5) });
    if ((await text) !== "done" || (await steps).length !== callSteps + 1) throw new Error("AI SDK did something else");
  };
}

/** What was said before, as texts. */
export function earlierMessages(
  count: number,
): readonly { readonly role: "user" | "assistant"; readonly content: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index} of a conversation that has gone on for a while: the sums of this morning were right.`,
  }));
}

/** What is used of pi's agent core. */
interface Pi {
  readonly Agent: new (options: object) => {
    prompt(text: string): Promise<void>;
    readonly state: { readonly messages: readonly { readonly role: string }[] };
  };
}

interface PiStreams {
  createAssistantMessageEventStream(): { push(event: object): void };
}

/** Makes a run of pi's agent core, with a stream function of its own kind. */
export async function piRun({ tools: count, calls, result, earlier }: Load): Promise<() => Promise<void>> {
  const folder = join(import.meta.dirname, "peers/node_modules/@earendil-works");
  const { Agent } = (await import(join(folder, "pi-agent-core/dist/index.js"))) as Pi;
  const streams = (await import(join(folder, "pi-ai/dist/utils/event-stream.js"))) as PiStreams;
  const tools = Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? "add" : `tool-${index}`,
    label: "Add",
    description: "Adds two numbers",
    parameters: addSchema,
    execute: async (_id: string, { a, b }: Sum) => ({
      content: [{ type: "text", text: result ?? String(a + b) }],
      details: {},
    }),
  }));
  const messages = earlierMessages(earlier).map(({ role, content }) =>
    role === "user" ? { role, content, timestamp: 0 } : toPiMessage([{ type: "text", text: content }], "stop"),
  );
  return async () => {
    const initialState = { systemPrompt: "", model: piModel, tools, thinkingLevel: "off", messages };
    const agent = new Agent({ initialState, streamFn: toStreamFunction(streams, calls) });
    await agent.prompt("Add");
    const { messages: all } = agent.state;
    const results = all.filter(({ role }) => role === "toolResult").length;
    if (results !== callSteps * calls || all.at(-1)?.role !== "assistant") throw new Error("pi did something else");
  };
}

const piModel = {
  id: "bench",
  name: "bench",
  api: "bench",
  provider: "bench",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 1000,
};

function toStreamFunction(
  { createAssistantMessageEventStream }: PiStreams,
  calls: number,
): (model: object, context: PiContext) => object {
  return (_model, { messages }) => {
    const stream = createAssistantMessageEventStream();
    const step = messages.filter(({ role }) => role === "toolResult").length / calls;
    for (const event of step < callSteps ? toPiCalls(step, calls) : toPiText()) stream.push(event);
    return stream;
  };
}

interface PiContext {
  readonly messages: readonly { readonly role: string }[];
}

function toPiMessage(content: readonly object[], stopReason: string): object {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
  return {
    role: "assistant",
    content,
    api: "bench",
    provider: "bench",
    model: "bench",
    usage,
    stopReason,
    timestamp: 0,
  };
}

function toPiCalls(step: number, calls: number): readonly object[] {
  const toolCalls = Array.from({ length: calls }, (_, index) => ({
    type: "toolCall",
    id: `call-${step}-${index}`,
    name: "add",
    arguments: { a: step, b: index },
  }));
  const message = toPiMessage(toolCalls, "toolUse");
  return [
    { type: "start", partial: message },
    ...toolCalls.flatMap((toolCall, contentIndex) => [
      { type: "toolcall_start", contentIndex, partial: message },
      { type: "toolcall_delta", contentIndex, delta: JSON.stringify(toolCall.arguments), partial: message },
      { type: "toolcall_end", contentIndex, toolCall, partial: message },
    ]),
    { type: "done", reason: "toolUse", message },
  ];
}

function toPiText(): readonly object[] {
  const message = toPiMessage([{ type: "text", text: "done" }], "stop");
  return [
    { type: "start", partial: message },
    { type: "text_start", contentIndex: 0, partial: message },
    { type: "text_delta", contentIndex: 0, delta: "done", partial: message },
    { type: "text_end", contentIndex: 0, content: "done", partial: message },
    { type: "done", reason: "stop", message },
  ];
}
