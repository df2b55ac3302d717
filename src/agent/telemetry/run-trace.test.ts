import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context, metrics, trace, type Attributes, type MeterProvider } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace";
import { afterEach, expect, test } from "vitest";

import { startTraceCollector, type CollectedSpan } from "../../../test/support/trace-collector.ts";
import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";

type MockScript = Parameters<typeof mockModel>[0];

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const script: MockScript = [
  { calls: [{ tool: "add", input: { a: 1, b: 2 } }, { tool: "missing" }], usage: { input: 1000, output: 20 } },
  { text: "It is 3", usage: { input: 1100, output: 5 } },
];

afterEach(() => {
  context.disable();
  trace.disable();
  metrics.disable();
});

test("run() sends one trace to a collector: the run, its steps, and the questions and calls in each", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const collector = await startTraceCollector();
  const exporter = new OTLPTraceExporter({ url: collector.url });
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);

  const result = await createTestAgent(script).run("Add 1 and 2").result;
  await provider.forceFlush();
  await collector.close();

  expect(result.status).toBe("ok");
  expect(new Set(collector.spans().map(({ traceId }) => traceId)).size).toBe(1);
  expect(renderTree(collector.spans())).toMatchInlineSnapshot(`
    "invoke_agent
      step
        chat m
        execute_tool add
          run function
        execute_tool
      step
        chat m"
  `);
});

test("run() says in its spans what was used, and nothing of what was said", async () => {
  const { exporter, tracerProvider } = createTracing();
  const settings = { temperature: 0.5, maxOutputTokens: 100, seed: 7, stop: ["END"] };

  const agent = createTestAgent(script, { telemetry: { tracerProvider }, settings, store: memoryStore() });
  await agent.run("Add 1 and 2", { id: "my-run", conversation: "talk", user: "ada" }).result;

  const [first, second] = exporter.getFinishedSpans().filter(({ name }) => name === "chat m");
  expect(first?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.max_tokens": 100,
    "gen_ai.request.seed": 7,
    "gen_ai.request.stop_sequences": ["END"],
    "gen_ai.response.model": "m",
    "gen_ai.response.finish_reasons": ["tool-calls"],
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 0,
    "gen_ai.usage.cache_creation.input_tokens": 0,
    "gen_ai.usage.reasoning.output_tokens": 0,
    "kitbag.cost_usd": 0.0012,
  });
  expect(second?.attributes).toMatchObject({ "gen_ai.response.finish_reasons": ["stop"] });
  expect(find(exporter, "invoke_agent").attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": "m",
    "gen_ai.conversation.id": "talk",
    "gen_ai.usage.input_tokens": 2100,
    "gen_ai.usage.output_tokens": 25,
    "kitbag.run.id": "my-run",
    "kitbag.run.status": "ok",
    "kitbag.run.steps": 2,
    "kitbag.run.calls": 2,
    "kitbag.cost_usd": expect.closeTo(0.002_35, 12),
  });
  const all = JSON.stringify(exporter.getFinishedSpans().map(({ attributes, status }) => [attributes, status]));
  expect(all).not.toMatch(/Add 1|It is 3|ada/u);
});

test("run() shows contents and the user if they are wanted, without what looks like a secret", async () => {
  const { exporter, tracerProvider } = createTracing();
  const secret = ["sk", "proj", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"].join("-");

  const telemetry = { tracerProvider, content: true, user: true };
  const agent = createTestAgent(script, { telemetry, instructions: "Be brief." });
  await agent.run(`Add 1 and 2 with ${secret}`, { user: "ada" }).result;

  const [first, second] = exporter.getFinishedSpans().filter(({ name }) => name === "chat m");
  expect(first?.attributes["gen_ai.system_instructions"]).toContain("Be brief.");
  expect(first?.attributes["gen_ai.input.messages"]).toContain("Add 1 and 2");
  expect(first?.attributes["gen_ai.output.messages"]).toContain('"arguments"');
  expect(second?.attributes["gen_ai.input.messages"]).toContain('"tool_call_response"');
  expect(second?.attributes["gen_ai.output.messages"]).toContain("It is 3");
  expect(find(exporter, "invoke_agent").attributes["user.id"]).toBe("ada");
  expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain(secret);
});

test("run() goes on with the trace of its caller, and hands it to its calls without a context manager", async () => {
  const { exporter, tracerProvider } = createTracing();
  trace.setGlobalTracerProvider(tracerProvider);

  await createTestAgent(script).run("Add", { traceparent }).result;

  const step = find(exporter, "step");
  expect(find(exporter, "invoke_agent").parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  expect(find(exporter, "execute_tool add").parentSpanContext?.spanId).toBe(step.spanContext().spanId);
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("run() marks the question and the run that failed, with the code and without the message", async () => {
  const { exporter, tracerProvider } = createTracing();

  const agent = createTestAgent([{ error: new Error("the key abc is wrong") }], { telemetry: { tracerProvider } });
  await agent.run("Hello").result;

  const chat = find(exporter, "chat m");
  const run = find(exporter, "invoke_agent");
  expect([chat.status, chat.attributes["error.type"]]).toEqual([{ code: 2 }, "_OTHER"]);
  expect([run.status, run.attributes["error.type"]]).toEqual([{ code: 2 }, "model-failed"]);
  expect(run.attributes["kitbag.run.status"]).toBe("failed");
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["chat m", "step", "invoke_agent"]);
});

test("run() measures tokens, time and cost of each question", async () => {
  const { meterProvider, measured } = createMeter();
  metrics.setGlobalMeterProvider(meterProvider);

  await createTestAgent([...script.slice(0, 1), { error: new Error("down") }] as MockScript).run("Add").result;

  const asked = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "acme", "gen_ai.request.model": "m" };
  const answered = { ...asked, "gen_ai.response.model": "m" };
  expect(measured).toEqual([
    ["gen_ai.client.token.usage", 1000, { ...answered, "gen_ai.token.type": "input" }],
    ["gen_ai.client.token.usage", 20, { ...answered, "gen_ai.token.type": "output" }],
    ["gen_ai.client.operation.duration", expect.any(Number), answered],
    ["kitbag.client.cost", 0.0012, answered],
    ["gen_ai.client.operation.duration", expect.any(Number), { ...asked, "error.type": "_OTHER" }],
  ]);
});

test("run() makes the instruments once for all runs of an agent", async () => {
  const { meterProvider, made } = createMeter();
  const agent = createTestAgent(() => "Hello", { telemetry: { meterProvider } });

  await agent.run("Hello").result;
  await agent.run("Hello").result;

  expect(made).toEqual(["gen_ai.client.token.usage", "gen_ai.client.operation.duration", "kitbag.client.cost"]);
});

test("run() runs although who is to be told is broken", async () => {
  const tracerProvider = {
    getTracer() {
      throw new Error("broken");
    },
  } as unknown as TracerProvider;

  const result = await createTestAgent(["Hello"], { telemetry: { tracerProvider } }).run("Hello").result;

  expect(result.status).toBe("ok");
});

function createTestAgent(answers: MockScript, options: Partial<AgentOptions> = {}): ReturnType<typeof createAgent> {
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    run: ({ a, b }) => Number(a) + Number(b),
  });
  const model = mockModel(answers, { provider: "acme", modelId: "m" });
  const prices = { "acme/m": { input: 1, output: 10 } };
  return createAgent({ model, workspace: createWorkspace({ tools: [add] }), prices, retries: false, ...options });
}

function createTracing(): { readonly exporter: InMemorySpanExporter; readonly tracerProvider: TracerProvider } {
  const exporter = new InMemorySpanExporter();
  return { exporter, tracerProvider: new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }) };
}

/** A meter provider that writes down what it is told. */
function createMeter(): {
  readonly meterProvider: MeterProvider;
  readonly measured: unknown[];
  readonly made: string[];
} {
  const measured: unknown[] = [];
  const made: string[] = [];
  const create = (name: string): object => {
    made.push(name);
    const note = (value: number, attributes: Attributes): void => void measured.push([name, value, attributes]);
    return { record: note, add: note };
  };
  const meter = { createHistogram: create, createCounter: create };
  return { meterProvider: { getMeter: () => meter } as unknown as MeterProvider, measured, made };
}

function find(exporter: InMemorySpanExporter, wanted: string): ReadableSpan {
  const span = exporter.getFinishedSpans().find(({ name }) => name === wanted);
  if (span === undefined) throw new Error(`no span ${wanted}`);
  return span;
}

function renderTree(spans: readonly CollectedSpan[], parent?: string, depth = 0): string {
  const inside = spans.filter(({ parentSpanId }) => (parentSpanId || undefined) === parent);
  return inside
    .map((span) => {
      const rest = renderTree(spans, span.spanId, depth + 1);
      return `${"  ".repeat(depth)}${span.name}${rest === "" ? "" : `\n${rest}`}`;
    })
    .join("\n");
}
