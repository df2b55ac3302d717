import { expect, test } from "vitest";

import type { AgentEvent } from "../events.ts";
import { createEventFeed } from "./event-feed.ts";

test("iterate() gives every reader all events, each at its own pace", async () => {
  const feed = createEventFeed(undefined);
  const [quick, slow] = [feed.iterate(), feed.iterate()];

  feed.tell(step(1));
  const first = await quick.next();
  feed.tell(step(2));
  feed.end();

  expect(first.value).toEqual(step(1));
  expect(await readAll(quick)).toEqual([step(2)]);
  expect(await readAll(slow)).toEqual([step(1), step(2)]);
});

test("next() may be called again before it has answered", async () => {
  const feed = createEventFeed(undefined);
  const reader = feed.iterate();

  const both = Promise.all([reader.next(), reader.next()]);
  feed.tell(step(1));
  feed.tell(step(2));

  expect((await both).map(({ value }) => value)).toEqual([step(1), step(2)]);
});

test("return() ends a reader that waits, and nobody is heard any more", async () => {
  const feed = createEventFeed(undefined);
  const reader = feed.iterate();
  const waiting = reader.next();

  await reader.return?.();

  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(feed.isHeard()).toBe(false);
});

test("tell() keeps little for a reader that does not read: texts are put together, and what tools say is left out", async () => {
  const feed = createEventFeed(undefined);
  const reader = feed.iterate();
  const noise = { type: "call-event", run: "a", id: "1", event: { type: "progress" } } as unknown as AgentEvent;

  for (let index = 0; index < 50_000; index++) feed.tell({ type: "text-delta", run: "a", step: 1, text: "ab" });
  for (let index = 0; index < 50_000; index++) feed.tell(noise);
  feed.tell(step(2));
  feed.end();
  const events = await readAll(reader);

  expect(events).toHaveLength(10_001);
  expect(events.at(-1)).toEqual(step(2));
  expect(events.map((event) => ("text" in event ? event.text : "")).join("")).toBe("ab".repeat(50_000));
});

function step(number: number): AgentEvent {
  return { type: "step-start", run: "a", step: number };
}

async function readAll(reader: AsyncIterator<AgentEvent, undefined>): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (;;) {
    const { done, value } = await reader.next();
    if (done === true) return events;
    events.push(value);
  }
}
