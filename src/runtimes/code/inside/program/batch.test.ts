import { expect, test } from "vitest";

import { createBatch } from "./messages.ts";

test("send() sends what was added since the last time as one list, and nothing if nothing was", () => {
  const sent: string[] = [];
  const batch = createBatch((text) => sent.push(text));

  batch.send();
  batch.add("1");
  batch.add('{"a":2}');
  batch.send();
  batch.send();
  batch.add("3");
  batch.send();

  expect(sent).toEqual(['[1,{"a":2}]', "[3]"]);
});

test("add() sends what is there before it becomes long", () => {
  const sent: string[] = [];
  const batch = createBatch((text) => sent.push(text));
  const long = JSON.stringify("x".repeat(400));

  batch.add("1");
  batch.add(long);
  batch.add(long);
  batch.send();

  expect(sent).toEqual([`[1,${long}]`, `[${long}]`]);
});
