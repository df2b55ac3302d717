import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";

import { createEventLog } from "./event-log.ts";

const message = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: {} });

test("createEventLog() gives messages again to the reader that they were sent to, and to no other", async () => {
  let reader = "wide";
  const log = createEventLog(() => reader);
  const first = await log.storeEvent("stream", message(1));
  reader = "narrow";
  await log.storeEvent("stream", message(2));
  reader = "wide";
  await log.storeEvent("stream", message(3));
  const replayed: unknown[] = [];
  const send = async (_id: string, sent: unknown): Promise<void> => void replayed.push(sent);

  await log.replayEventsAfter(first, { send });
  reader = "narrow";
  const found = await log.getStreamIdForEventId?.(first);
  const replaying = log.replayEventsAfter(first, { send });

  expect(replayed).toEqual([message(3)]);
  expect(found).toBeUndefined();
  await expect(replaying).rejects.toThrow("Cannot go on from an event that is no longer kept");
});
