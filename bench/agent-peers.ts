import { join } from "node:path";

import { isStepCount, jsonSchema, streamText, tool } from "ai";

import { benchModel, callSteps } from "./agent-models.ts";

/** Of the tool that every contender has. */
export const addSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;

interface Sum {
  readonly a: number;
  readonly b: number;
}

/** Makes a run of AI SDK's `streamText` with so many tools, whose schemas are converted once. */
export function streamTextRun(count: number): () => Promise<void> {
  const model = benchModel();
  const tools = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      index === 0 ? "add" : `tool-${index}`,
      tool({
        description: "Adds two numbers",
        inputSchema: jsonSchema<Sum>(addSchema as never),
        execute: async ({ a, b }: Sum) => a + b,
      }),
    ]),
  );
  return async () => {
    const { text, steps } = streamText({ model, prompt: "Add", tools, stopWhen: isStepCount(callSteps + 5) });
    if ((await text) !== "done" || (await steps).length !== callSteps + 1) throw new Error("AI SDK did something else");
  };
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

/** Makes a run of pi's agent core with so many tools, and a stream function of its own kind. */
export async function piRun(count: number): Promise<() => Promise<void>> {
  const folder = join(import.meta.dirname, "peers/node_modules/@earendil-works");
  const { Agent } = (await import(join(folder, "pi-agent-core/dist/index.js"))) as Pi;
  const streams = (await import(join(folder, "pi-ai/dist/utils/event-stream.js"))) as PiStreams;
  const tools = Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? "add" : `tool-${index}`,
    label: "Add",
    description: "Adds two numbers",
    parameters: addSchema,
    execute: async (_id: string, { a, b }: Sum) => ({ content: [{ type: "text", text: String(a + b) }], details: {} }),
  }));
  return async () => {
    const initialState = { systemPrompt: "", model: piModel, tools, thinkingLevel: "off" };
    const agent = new Agent({ initialState, streamFn: toStreamFunction(streams) });
    await agent.prompt("Add");
    const { messages } = agent.state;
    const results = messages.filter(({ role }) => role === "toolResult").length;
    if (results !== callSteps || messages.at(-1)?.role !== "assistant") throw new Error("pi did something else");
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

function toStreamFunction({
  createAssistantMessageEventStream,
}: PiStreams): (model: object, context: PiContext) => object {
  return (_model, { messages }) => {
    const stream = createAssistantMessageEventStream();
    const step = messages.filter(({ role }) => role === "toolResult").length;
    for (const event of step < callSteps ? toPiCall(step) : toPiText()) stream.push(event);
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

function toPiCall(step: number): readonly object[] {
  const toolCall = { type: "toolCall", id: `call-${step}`, name: "add", arguments: { a: step, b: 1 } };
  const message = toPiMessage([toolCall], "toolUse");
  return [
    { type: "start", partial: message },
    { type: "toolcall_start", contentIndex: 0, partial: message },
    { type: "toolcall_delta", contentIndex: 0, delta: `{"a":${step},"b":1}`, partial: message },
    { type: "toolcall_end", contentIndex: 0, toolCall, partial: message },
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
