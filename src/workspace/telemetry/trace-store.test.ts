import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createWorkspace, defineTool, type Store } from "kitbag";
import { storeConformance } from "kitbag/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { traceStore } from "./trace-store.ts";

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});

afterEach(() => {
  context.disable();
});

let now = 1_700_000_000_000;
const wait = async (durationMs: number): Promise<void> => void (now += durationMs);
const conformance = storeConformance(() => traceStore(memoryStore({ now: () => now })), { wait });

test.for(conformance)("traceStore(): $name", (check) => check.run());

test("traceStore() puts everything that a call does with a store into spans, and names no keys", async () => {
  const store = traceStore(memoryStore());

  const spans = await spansOfTool(async () => {
    await store.kv.set("user:ada", 1);
    await store.kv.get("user:ada");
    await store.kv.increment("user:ada");
    await store.kv.list();
    await store.kv.delete("user:ada");
    await store.log.append("ada", [1]);
    await store.log.read("ada");
    await store.log.position("ada");
    await store.log.streams();
    const digest = await store.blobs.put(new Uint8Array(3));
    await store.blobs.get(digest);
    await store.blobs.slice(digest, 0, 1);
    await store.blobs.size(digest);
    await store.blobs.list();
    await store.blobs.collect(new Set());
  });

  expect(spans.map(({ name }) => name.replace("store ", ""))).toEqual([
    "kv.set",
    "kv.get",
    "kv.increment",
    "kv.list",
    "kv.delete",
    "log.append",
    "log.read",
    "log.position",
    "log.streams",
    "blobs.put",
    "blobs.get",
    "blobs.slice",
    "blobs.size",
    "blobs.list",
    "blobs.collect",
  ]);
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("ada");
});

test("traceStore() tells counters that are kept elsewhere from what must be kept", async () => {
  const store = traceStore({ ...memoryStore(), counters: memoryStore().kv });

  const spans = await spansOfTool(async () => void (await store.counters?.increment("calls")));

  expect(spans.map(({ name }) => name)).toEqual(["store counters.increment"]);
  expect(await store.kv.get("calls")).toBeUndefined();
});

test("traceStore() says in a span what went wrong", async () => {
  const thrown: Store = {
    ...memoryStore(),
    kv: { ...memoryStore().kv, get: () => Promise.reject(new TypeError("no connection")) },
  };
  const store = traceStore(thrown);

  const spans = await spansOfTool(async () => {
    await expect(store.kv.get("a")).rejects.toThrow("no connection");
    await expect(store.kv.set("", 1)).rejects.toMatchObject({ code: "store-key-invalid" });
  });

  expect(spans.map(({ attributes }) => attributes["error.type"])).toEqual(["_OTHER", "store-key-invalid"]);
  expect(spans.map(({ status }) => status.code)).toEqual([2, 2]);
});

type Spans = ReturnType<InMemorySpanExporter["getFinishedSpans"]>;

/** What a tool that does `work` leaves behind, apart from the spans of its call. */
async function spansOfTool(work: () => Promise<void>): Promise<Spans> {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const input = { type: "object" } as const;
  const run = async (): Promise<null> => {
    await work();
    return null;
  };
  const tool = defineTool({ name: "work", description: "Works", input, run });
  const outcome = await createWorkspace({ tools: [tool], telemetry: { tracerProvider } }).call("work", {});
  expect(outcome).toEqual({ status: "ok", output: null });
  return exporter.getFinishedSpans().filter(({ name }) => name.startsWith("store "));
}
