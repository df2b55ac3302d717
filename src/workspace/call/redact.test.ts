import { expect, test } from "vitest";

import { createTool, defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Runtime } from "../../core/runtime.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";

const secrets = { API_KEY: "sk-live-4f9ab", PASSWORD: "correct horse battery" };

test("R19: declared secrets are taken out of outputs, errors, events and the store", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({
    store,
    secrets,
    tools: [
      echo,
      defineTool({ name: "fail", description: "Fails", run: () => Promise.reject(new Error(secrets.PASSWORD)) }),
    ],
    approve: ({ address }) =>
      address === "fail" ? { decision: "approve" } : { decision: "deny", reason: `not with ${secrets.API_KEY}` },
  });
  const seen: unknown[] = [];
  workspace.onEvent((event) => seen.push(event));

  seen.push(
    await workspace.call("echo", { text: secrets.API_KEY }, { user: secrets.API_KEY }),
    await workspace.call("echo", { text: secrets.API_KEY }, { approve: () => ({ decision: "approve" }) }),
    await workspace.call("echo", { wrong: secrets.API_KEY }),
    await workspace.call("fail"),
    await workspace.call(secrets.API_KEY),
    await store.log.read("calls"),
  );

  const text = JSON.stringify(seen);
  expect(Object.values(secrets).filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).toContain("[API_KEY]");
  expect(text).toContain("[PASSWORD]");
});

test("R19: a secret that the caller got by a lenient change is taken out of the list of changes", async () => {
  const workspace = createWorkspace({ tools: [echo], secrets: { PIN: "123456" } });

  const outcome = await workspace.call("echo", { text: 123456 });

  expect(JSON.stringify(outcome)).not.toContain("123456");
});

test.for<[string, () => unknown]>([
  ["answers", () => "done"],
  ["answers later", async () => "done"],
  ["throws", () => thrower()],
  ["throws later", async () => thrower()],
])("R19: what was held back because it might begin a secret is told when the tool %s", async ([, end]) => {
  const stream: Runtime = {
    kind: "stream",
    run(_tool, _input, { chunk }) {
      chunk("this might begin sk-li");
      return end();
    },
  };
  const tool = createTool({ name: "stream", description: "Streams", code: { kind: "stream" } });
  const workspace = createWorkspace({ tools: [tool], runtimes: [stream], secrets });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));

  await workspace.call("stream");

  expect(events.slice(1, -1)).toMatchObject([{ chunk: "this might begin " }, { chunk: "sk-li" }]);
  expect(events.at(-1)?.type).toBe("call-end");
});

test("R19: an event stays an event, whatever the secrets are", async () => {
  const year = String(Date.now()).slice(0, 4);
  const workspace = createWorkspace({
    tools: [echo],
    secrets: { A: "call", B: "call-start", C: "status", D: "failed", E: "echo", F: year, G: "type" },
  });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));

  await workspace.call("echo", { text: "hi" });

  expect(events).toMatchObject([
    { type: "call-start", call: expect.any(String), tool: "[E]", time: expect.any(Number) },
    { type: "call-end", call: events[0]?.call, tool: "[E]", durationMs: expect.any(Number) },
  ]);
});

test("call() measures an output again when the names of secrets made it larger", async () => {
  const workspace = createWorkspace({
    tools: [echo],
    secrets: { [`A_NAME_${"X".repeat(50)}`]: "abcd" },
    limits: { maxOutputBytes: 1000 },
  });

  const outcomes = await Promise.all([
    workspace.call("echo", { text: "abc ".repeat(100) }),
    workspace.call("echo", { text: "abcd ".repeat(100) }),
  ]);

  expect(outcomes[0]).not.toHaveProperty("capped");
  expect(outcomes[1]).toMatchObject({ capped: { bytes: 6000 } });
});

const echo = defineTool({
  name: "echo",
  description: "Says it again",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text,
});

function thrower(): never {
  throw new Error("broken");
}
