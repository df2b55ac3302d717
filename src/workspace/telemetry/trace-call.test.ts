import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";

import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import { createWorkspace, defineSkill, defineTool, memoryStore, type Runtime, type Workspace } from "kitbag";
import { openAudit } from "kitbag/store";
import { afterEach, beforeEach, expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { startTraceCollector, type CollectedSpan } from "../../../test/support/trace-collector.ts";

const remote = { trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331" };
const traceparent = `00-${remote.trace}-${remote.span}-01`;

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});

afterEach(() => {
  context.disable();
  trace.disable();
});

test("call() says in its span what it cost, if it cost something", async () => {
  const { spans } = register();
  const paid = defineTool({ ...base, name: "paid", run: (_, { spend }) => spend(0.5) });
  const free = defineTool({ ...base, name: "free", run: () => 1 });
  const workspace = createWorkspace({ tools: [paid, free] });

  await workspace.call("paid", {});
  await workspace.call("free", {});

  const costs = spans().map(({ name, attributes }) => [name, attributes["kitbag.cost_usd"]]);
  expect(costs.filter(([name]) => String(name).startsWith("execute_tool"))).toEqual([
    ["execute_tool paid", 0.5],
    ["execute_tool free", undefined],
  ]);
});

test("call() sends one trace of nested calls to a collector, each span inside the one that made it", async () => {
  const collector = await startTraceCollector();
  const { provider } = register(new OTLPTraceExporter({ url: collector.url }));
  const inner = defineTool({ ...base, name: "inner", run: () => "done" });
  const outer = defineTool({ ...base, name: "outer", run: (_, { call }) => call("geo/inner", {}) });
  const workspace = createWorkspace({
    tools: [outer],
    skills: [defineSkill({ name: "geo", description: "Knows places", tools: [inner] })],
    store: memoryStore(),
  });
  await workspace.activateSkill("geo");

  await workspace.call("outer", {});
  await provider.forceFlush();
  await collector.close();

  const spans = collector.spans();
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(renderTree(spans)).toMatchInlineSnapshot(`
    "execute_tool outer
      run function
        execute_tool geo/inner
          run function
          store log.append
          store log.append
      store log.append
      store log.append"
  `);
  const { attributes } = find(spans, "execute_tool geo/inner");
  expect(attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "geo/inner",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": expect.stringMatching(/-2$/u),
    "kitbag.call.parent": expect.stringMatching(/-1$/u),
    "kitbag.call.depth": 1,
    "kitbag.call.ran": true,
    "kitbag.call.queue_ms": 0,
    "kitbag.call.output_bytes": 6,
    "kitbag.tool.source": "skill",
    "kitbag.tool.owner": "geo",
  });
});

test("call() makes spans inside what its caller has active, and a tool's own spans inside the tool", async () => {
  const { spans } = register();
  const tracer = trace.getTracer("test");
  const tool = defineTool({
    ...base,
    name: "own",
    run: async (_, { call }) => {
      await Promise.resolve();
      return tracer.startActiveSpan("own work", async (span) => {
        await call("leaf", {});
        span.end();
        return null;
      });
    },
  });
  const workspace = createWorkspace({ tools: [tool, leaf] });

  await tracer.startActiveSpan("request", async (span) => {
    await workspace.call("own", {});
    span.end();
  });

  expect(renderTree(spans())).toMatchInlineSnapshot(`
    "request
      execute_tool own
        run function
          own work
            execute_tool leaf
              run function"
  `);
});

test("call() knows which call made it where the active context does not", async () => {
  context.disable();
  const { spans } = register();
  const workspace = createWorkspace({ tools: [callsLeaf, leaf] });

  await workspace.call("calls-leaf", {});

  expect(renderTree(spans())).toMatchInlineSnapshot(`
    "execute_tool calls-leaf
      run function
        execute_tool leaf
          run function"
  `);
});

test("call() is inside the call that made it, also if it is asked for through what an earlier one has opened", async () => {
  const { spans } = register();
  let channel: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined;
  const asks = defineTool({
    ...base,
    name: "asks",
    run: (_, { call }) => {
      channel ??= AsyncLocalStorage.snapshot();
      return channel(() => call("leaf", {})) as never;
    },
  });
  const workspace = createWorkspace({ tools: [asks, leaf] });

  await workspace.call("asks", {});
  await workspace.call("asks", {});

  const tree = ["execute_tool asks", "  run function", "    execute_tool leaf", "      run function"];
  expect(renderTree(spans())).toBe([...tree, ...tree].join("\n"));
});

test("call() goes on with the trace that traceparent names, and links to the active span", async () => {
  const { spans } = register();
  const workspace = createWorkspace({ tools: [leaf] });

  await trace.getTracer("test").startActiveSpan("request", async (span) => {
    await workspace.call("leaf", {}, { traceparent, tracestate: "vendor=1" });
    span.end();
  });
  await workspace.call("leaf", {}, { traceparent });

  const [linked, plain] = spans().filter(({ name }) => name === "execute_tool leaf");
  expect(linked).toMatchObject({ traceId: remote.trace, parentSpanId: remote.span });
  expect(linked?.links).toEqual([find(spans(), "request").spanId]);
  expect(plain).toMatchObject({ traceId: remote.trace, parentSpanId: remote.span, links: [] });
});

test("call() tells a runtime where in a trace the tool runs, and nothing while nobody traces", async () => {
  const seen: unknown[] = [];
  const runtime: Runtime = { kind: "function", run: (_tool, _input, context) => void seen.push(context.trace) };
  const workspace = createWorkspace({ tools: [leaf], runtimes: [runtime] });

  await workspace.call("leaf", {});
  const { spans } = register();
  await workspace.call("leaf", {}, { traceparent, tracestate: "vendor=1" });

  const { spanId } = find(spans(), "run function");
  expect(seen).toEqual([{}, { traceparent: `00-${remote.trace}-${spanId}-01`, tracestate: "vendor=1" }]);
});

test("call() begins a new trace for a traceparent that is none", async () => {
  const { spans } = register();
  const workspace = createWorkspace({ tools: [leaf] });

  const outcome = await workspace.call("leaf", {}, { traceparent: "__proto__" });

  expect(outcome.status).toBe("ok");
  expect(find(spans(), "execute_tool leaf").parentSpanId).toBeUndefined();
});

test("call() records which trace it belongs to", async () => {
  register();
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [leaf], store });

  await workspace.call("leaf", {}, { traceparent });

  const [start] = await store.log.read("calls");
  expect(start?.value).toMatchObject({ type: "call-start", trace: remote.trace });
});

test("call() refuses a traceparent that is no text", async () => {
  const workspace = createWorkspace({ tools: [leaf] });

  const outcome = await workspace.call("leaf", {}, { traceparent: 1 as never });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "option-invalid" } });
});

test("call() says in its span that it failed, but by default not what was said", async () => {
  const { spans } = register();
  const workspace = createWorkspace({ tools: [failing] });

  await workspace.call("failing", { note: "ada@example.com" }, { user: "lovelace" });

  const span = find(spans(), "execute_tool failing");
  expect(span).toMatchObject({ status: 2, message: undefined, attributes: { "error.type": "tool-failed" } });
  expect(find(spans(), "run function")).toMatchObject({ status: 2, attributes: { "error.type": "tool-failed" } });
  expect(JSON.stringify(spans())).not.toMatch(/lovelace|wrong|example/u);
});

test("call() shows contents and user if they are wanted, without secrets and personal data", async () => {
  const { spans } = register();
  const secret = ["hunter", "2-hunter"].join("");
  const tools = [failing, echo];
  const workspace = createWorkspace({ tools, secrets: { KEY: secret }, telemetry: { content: true, user: true } });

  await workspace.call("echo", { note: `ada@example.com ${secret}` }, { user: "u1" });
  await workspace.call("failing", {}, { user: "u1" });

  expect(find(spans(), "execute_tool echo").attributes).toMatchObject({
    "user.id": "u1",
    "gen_ai.tool.call.arguments": '{"note":"[email] [KEY]"}',
    "gen_ai.tool.call.result": '{"note":"[email] [KEY]"}',
  });
  expect(find(spans(), "execute_tool failing").message).toContain("wrong for [email]");
});

test("call() shows long contents cut, and input that is no JSON not at all", async () => {
  const { spans } = register();
  const workspace = createWorkspace({ tools: [echo], telemetry: { content: true } });

  await workspace.call("echo", { note: "x".repeat(20_000) });
  await workspace.call("echo", { note: () => 1 });

  const [long, wrong] = spans().filter(({ name }) => name === "execute_tool echo");
  expect(String(long?.attributes["gen_ai.tool.call.result"])).toMatch(/^.{8000}…$/u);
  expect(wrong?.attributes["gen_ai.tool.call.arguments"]).toBe("");
});

test("call() names no tool that there is not, and shows what was asked for without personal data", async () => {
  const { spans } = register();
  const workspace = createWorkspace({ tools: [leaf] });

  await workspace.call("ada@example.com", {});

  expect(spans()).toMatchObject([
    { name: "execute_tool", status: 2, attributes: { "error.type": "tool-not-found", "gen_ai.tool.name": "[email]" } },
  ]);
});

test("call() says where an output comes from that was recalled, and which version was asked", async () => {
  const { spans } = register();
  const cached = defineTool({ ...base, name: "cached", version: "1.2.0", cache: { ttlMs: 1000 }, run: () => 1 });
  const workspace = createWorkspace({ tools: [cached] });

  await workspace.call("cached", {});
  await workspace.call("cached", {});

  const [, second] = spans().filter(({ name }) => name === "execute_tool cached");
  expect(second?.attributes).toMatchObject({
    "kitbag.call.recalled": "cache",
    "kitbag.call.ran": false,
    "kitbag.tool.version": "1.2.0",
  });
});

test("call() ends the span of a tool that does not stop at the deadline", async () => {
  const { spans } = register();
  const stuck = defineTool({ ...base, name: "stuck", run: () => new Promise(() => {}) });
  const workspace = createWorkspace({ tools: [stuck] });

  await workspace.call("stuck", {}, { limitMs: 20 });

  expect(find(spans(), "run function").attributes["error.type"]).toBe("call-timeout");
  expect(find(spans(), "execute_tool stuck").attributes["error.type"]).toBe("call-timeout");
});

test("call() leaves a tool alone that ends after its call, and says why one stopped that obeyed", async () => {
  const { spans } = register();
  const late = defineTool({
    ...base,
    name: "late",
    run: () => new Promise((resolve) => void setTimeout(resolve, 60, 1)),
  });
  const obedient = defineTool({
    ...base,
    name: "obedient",
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      }),
  });
  const workspace = createWorkspace({ tools: [late, obedient] });

  await workspace.call("late", {}, { limitMs: 20 });
  await workspace.call("obedient", {}, { limitMs: 20 });
  await new Promise((resolve) => void setTimeout(resolve, 100));

  const runs = spans().filter(({ name }) => name === "run function");
  expect(runs.map(({ attributes }) => attributes["error.type"])).toEqual(["call-timeout", "call-timeout"]);
});

test("call() describes the sandbox of a runtime that has one", async () => {
  const { spans } = register();
  const workspace = createWorkspace({
    tools: ["boxed", "broken", "plain"].map((kind) => ({ ...leaf, name: kind, code: { kind } })),
    runtimes: [
      { kind: "boxed", run: async () => later(1), describe: async () => ({ sandbox: "bubblewrap" }) },
      { kind: "broken", run: async () => later(1), describe: () => Promise.reject(new Error("no sandbox")) },
      { kind: "plain", run: () => 1, describe: () => ({ sandbox: "none" }) },
    ],
  });

  for (const name of ["boxed", "broken", "plain"]) await workspace.call(name, {});

  expect(find(spans(), "run boxed").attributes["kitbag.sandbox"]).toBe("bubblewrap");
  expect(find(spans(), "run broken").attributes).not.toHaveProperty("kitbag.sandbox");
  expect(find(spans(), "run plain").attributes).not.toHaveProperty("kitbag.sandbox");
});

test("call() uses the provider of the workspace before the one that is registered", async () => {
  const { spans: registered } = register();
  const own = createProvider(new InMemorySpanExporter());
  const workspace = createWorkspace({ tools: [leaf], telemetry: { tracerProvider: own.provider } });

  await workspace.call("leaf", {});

  expect(registered()).toEqual([]);
  expect(own.spans()).toHaveLength(2);
});

test("call() makes nothing of spans that are not sampled", async () => {
  const exporter = new InMemorySpanExporter();
  const { provider, spans } = createProvider(exporter, new AlwaysOffSampler());
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [callsLeaf, leaf], store, telemetry: { tracerProvider: provider } });

  const outcome = await workspace.call("calls-leaf", {});

  expect(outcome.status).toBe("ok");
  expect(spans()).toEqual([]);
});

test("call() has spans for the audit, and for what a store refuses", async () => {
  const { spans } = register();
  const store = memoryStore();
  const audit = await openAudit({
    store: memoryStore(),
    key: new Uint8Array(32),
    anchorFile: join(createFolder(), "audit.head"),
  });
  const workspace = createWorkspace({ tools: [leaf], store, audit });
  await workspace.call("leaf", {});
  await store.close();

  const outcome = await workspace.call("leaf", {});

  expect(outcome).toMatchObject({ error: { code: "store-failed" } });
  expect(find(spans(), "store audit.append").status).toBe(0);
  const refused = spans().findLast(({ name }) => name === "store log.append");
  expect(refused).toMatchObject({ status: 2, attributes: { "error.type": "store-closed" } });
});

test("createWorkspace() refuses telemetry that is wrong", () => {
  const make = (telemetry: unknown): Workspace => createWorkspace({ telemetry: telemetry as never });

  expect(() => make({ content: "yes" })).toThrow(/telemetry.content/u);
  expect(() => make({ contents: true })).toThrow(/telemetry.contents/u);
  expect(() => make({ tracerProvider: {} })).toThrow(/telemetry.tracerProvider/u);
  expect(() => make({ user: 1 })).toThrow(/telemetry.user/u);
});

const base = { description: "Does something", input: { type: "object" } } as const;
const leaf = defineTool({ ...base, name: "leaf", run: () => 1 });
const echo = defineTool({ ...base, name: "echo", run: (input) => input as never });
const callsLeaf = defineTool({ ...base, name: "calls-leaf", run: (_, { call }) => call("leaf", {}) as never });
const failing = defineTool({
  ...base,
  name: "failing",
  run: () => {
    throw new Error("wrong for ada@example.com");
  },
});

async function later<Value>(value: Value): Promise<Value> {
  await new Promise((resolve) => void setTimeout(resolve, 5));
  return value;
}

interface Provided {
  readonly provider: TracerProvider;
  readonly spans: () => readonly CollectedSpan[];
}

function register(exporter: SpanExporter = new InMemorySpanExporter()): Provided {
  const provided = createProvider(exporter);
  trace.setGlobalTracerProvider(provided.provider);
  return provided;
}

function createProvider(exporter: SpanExporter, sampler?: AlwaysOffSampler): Provided {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const provider = new TracerProvider({ spanProcessors, ...(sampler !== undefined && { sampler }) });
  const spans = (): CollectedSpan[] => {
    const finished = exporter instanceof InMemorySpanExporter ? exporter.getFinishedSpans() : [];
    return finished.map(toCollected).toSorted((left, right) => left.startMs - right.startMs);
  };
  return { provider, spans };
}

function toCollected(span: ReturnType<InMemorySpanExporter["getFinishedSpans"]>[number]): CollectedSpan {
  const { traceId, spanId } = span.spanContext();
  const toMs = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1000 + nanoseconds / 1e6;
  return {
    name: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    startMs: toMs(span.startTime),
    endMs: toMs(span.endTime),
    attributes: span.attributes as CollectedSpan["attributes"],
    status: span.status.code,
    message: span.status.message,
    links: span.links.map(({ context }) => context.spanId),
  };
}

function find(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const span = spans.find((candidate) => candidate.name === name);
  if (span === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(", ")}`);
  return span;
}

function renderTree(spans: readonly CollectedSpan[], parent?: string, indent = ""): string {
  const inside = spans.filter(({ parentSpanId }) => parentSpanId === parent);
  // By name: their times are in whole milliseconds, and do not tell which was first.
  return inside
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap(({ name, spanId }) => [`${indent}${name}`, renderTree(spans, spanId, `${indent}  `)])
    .filter((line) => line !== "")
    .join("\n");
}
