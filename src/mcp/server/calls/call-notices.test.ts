import type { ServerContext } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";

import type { CallEvent } from "../../../core/events.ts";
import { createCallNotices } from "./call-notices.ts";

const start: CallEvent = { type: "call-start", call: "a", tool: "t", input: {}, time: 0 };
const step = (done: number): CallEvent => ({ type: "call-progress", call: "a", progress: { done, total: 5000 } });

test("createCallNotices() sends numbers that only grow, whatever the tool says", async () => {
  const { sent, context } = createClient();
  const { onEvent, flush } = createCallNotices(() => context);

  for (const event of [start, step(3), step(3), step(1), step(Number.NaN), step(7)]) onEvent(event);
  onEvent({ type: "call-progress", call: "nested", progress: { done: 4000, message: "inside" } });
  await flush();

  const numbers = sent.map(({ progress }) => Number(progress));
  expect(numbers[0]).toBe(3);
  expect(numbers.every((one, index) => index === 0 || one > Number(numbers[index - 1]))).toBe(true);
  expect(numbers.at(-1)).toBeLessThan(8);
});

test("createCallNotices() keeps few for a client that is slow, and the last of them", async () => {
  const { sent, context } = createClient(1);
  const { onEvent, flush } = createCallNotices(() => context);

  onEvent(start);
  for (let done = 1; done <= 5000; done++) onEvent(step(done));
  await flush();

  expect(sent.length).toBeLessThan(300);
  expect(sent.at(-1)).toMatchObject({ progress: 5000, total: 5000 });
});

test("createCallNotices() sends a piece of output as text and as it is", async () => {
  const { sent, context } = createClient();
  const { onEvent, flush } = createCallNotices(() => context);

  onEvent(start);
  onEvent({ type: "call-chunk", call: "a", chunk: { row: 1 } });
  onEvent({ type: "call-chunk", call: "a", chunk: "x".repeat(1_000_000) });
  await flush();

  expect(sent[0]).toMatchObject({ message: '{"row":1}', _meta: { "io.kitbag/chunk": { row: 1 } } });
  expect(String(sent[1]?.["message"]).length).toBe(64 * 1024);
});

test("createCallNotices() says nothing to a client without a token, or that is gone", async () => {
  const { sent, context } = createClient();
  const broken = {
    mcpReq: { _meta: { progressToken: 1 }, notify: () => Promise.reject(new Error("gone")) },
  } as unknown as ServerContext;
  const silent = { mcpReq: { ...context.mcpReq, _meta: {} } } as ServerContext;

  for (const given of [undefined, silent, broken]) {
    const { onEvent, flush } = createCallNotices(() => given);
    onEvent(start);
    onEvent(step(1));
    await flush();
  }

  expect(sent).toEqual([]);
});

function createClient(delayMs = 0): { sent: Record<string, unknown>[]; context: ServerContext } {
  const sent: Record<string, unknown>[] = [];
  const mcpReq = {
    _meta: { progressToken: 1 },
    async notify({ params }: { params: Record<string, unknown> }) {
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      sent.push(params);
    },
  };
  return { sent, context: { mcpReq } as unknown as ServerContext };
}
