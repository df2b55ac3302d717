import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { OutputHead, ToolOutcome } from "../../core/outcome.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";

test("R22: an output that is too large is kept, and its head is handed over with its shape and a handle", async () => {
  const { workspace, events } = setUp({ limits: { maxOutputBytes: 10_000 } });

  const outcome = await workspace.call("rows", { count: 1000 });
  const { head, handle, bytes, shape } = headOf(outcome);
  const whole = await readAll(workspace, handle);

  expect(JSON.parse(whole)).toEqual(rows(1000));
  expect(shape).toBe("a list of 1000; the first is an object with id, name");
  expect(head).toBe(whole.slice(0, 2000));
  expect(outcome).toMatchObject({ status: "ok", capped: { handle, bytes } });
  expect(bytes).toBe(Buffer.byteLength(whole));
  expect(events.find(({ type }) => type === "output-capped")).toMatchObject({ capped: { handle, bytes } });
  expect(events.at(-1)).toMatchObject({ type: "call-end", outcome });
});

test("call() hands over an output up to the limit, and not a byte more", async () => {
  const { workspace } = setUp({ limits: { maxOutputBytes: 100 } });

  const outcomes = await Promise.all([98, 99].map((length) => workspace.call("text", { length })));

  expect(outcomes[0]).toEqual({ status: "ok", output: "x".repeat(98) });
  expect(outcomes[1]).toMatchObject({ capped: { bytes: 99 } });
});

test("call() takes the caller's limit before the workspace's", async () => {
  const { workspace } = setUp({ limits: { maxOutputBytes: 100 } });

  const outcomes = await Promise.all([
    workspace.call("text", { length: 500 }, { maxOutputBytes: 1000 }),
    workspace.call("text", { length: 50 }, { maxOutputBytes: 10 }),
  ]);

  expect(outcomes).toMatchObject([{ output: "x".repeat(500) }, { capped: { bytes: 50 } }]);
});

test("call() keeps a text as it is, and cuts its head where no character is cut", async () => {
  const emoji = defineTool({ name: "emoji", description: "Smiles", run: () => `a${"🙂".repeat(2000)}` });
  const workspace = createWorkspace({ tools: [emoji], limits: { maxOutputBytes: 100 } });

  const { head, handle, shape } = headOf(await workspace.call("emoji"));

  expect(head).toBe(`a${"🙂".repeat(999)}`);
  expect(await readAll(workspace, handle)).toBe(`a${"🙂".repeat(2000)}`);
  expect(shape).toBe("text of 4001 characters");
});

test("a call inside a call gets the whole output, and the records show its head", async () => {
  const store = memoryStore();
  const { workspace, events } = setUp({ limits: { maxOutputBytes: 100 }, store });

  const outcome = await workspace.call("inside", { length: 5000 });
  const stored = (await store.log.read("calls")).map((entry) => entry.value as unknown as CallEvent);

  expect(outcome).toEqual({ status: "ok", output: 5000 });
  for (const records of [events, stored]) {
    const end = records.find((event) => event.type === "call-end" && event.tool === "text");
    expect(end).toMatchObject({ outcome: { status: "ok", capped: { bytes: 5000 }, output: { bytes: 5000 } } });
  }
  expect(JSON.stringify(stored).length).toBeLessThan(5000);
});

test("a caller who asks for more than the limit gets the whole output, and the store's records show its head", async () => {
  const store = memoryStore();
  const { workspace } = setUp({ limits: { maxOutputBytes: 100 }, store });

  const outcome = await workspace.call("text", { length: 5000 }, { maxOutputBytes: 10_000 });
  const end = (await store.log.read("calls")).at(-1)?.value;

  expect(outcome).toEqual({ status: "ok", output: "x".repeat(5000) });
  expect(end).toMatchObject({ type: "call-end", outcome: { capped: { bytes: 5000 }, output: { bytes: 5000 } } });
  expect(JSON.stringify(end).length).toBeLessThan(5000);
});

test("a call inside a call keeps nothing if nobody records it", async () => {
  const { workspace } = setUp({ limits: { maxOutputBytes: 100 } }, false);

  const outcome = await workspace.call("inside", { length: 5000 });

  expect(outcome).toEqual({ status: "ok", output: 5000 });
});

test("call() keeps large outputs in the store, and the next workspace on it can read them", async () => {
  const store = memoryStore();
  const { workspace } = setUp({ limits: { maxOutputBytes: 100 }, store });

  const { handle } = headOf(await workspace.call("text", { length: 500 }));
  const text = await readAll(createWorkspace({ store }), handle);

  expect(text).toBe("x".repeat(500));
});

test("call() fails when the output cannot be kept, and says that the tool did run", async () => {
  const store = memoryStore();
  const blobs: Store["blobs"] = { ...store.blobs, put: () => Promise.reject(new Error("disk full")) };
  const { workspace, events } = setUp({ limits: { maxOutputBytes: 100 }, store: { ...store, blobs } });

  const outcome = await workspace.call("text", { length: 500 });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "store-failed", details: { reason: "disk full", ran: true } },
  });
  expect(events.at(-1)).toMatchObject({ type: "call-end", outcome });
});

test("call() keeps nothing above the largest size, and fails", async () => {
  const { workspace } = setUp({ limits: { maxOutputBytes: 100, maxKeptBytes: 1000 } });

  const outcome = await workspace.call("text", { length: 1000 });

  expect(outcome).toMatchObject({ error: { code: "output-too-large", details: { limitBytes: 1000 } } });
});

test("readOutput() says that an output is gone which is not among the latest 256 MiB", async () => {
  const { workspace } = setUp({});
  const large = 60 * 1024 * 1024;

  const handles: string[] = [];
  for (let length = large; length < large + 5; length++) {
    handles.push(headOf(await workspace.call("text", { length })).handle);
  }
  const answers = await Promise.all(
    handles.map((handle) =>
      workspace.readOutput(handle, { length: 4 }).then(
        ({ text }) => text,
        (cause: { code: string; message: string }) => cause.message,
      ),
    ),
  );

  expect(answers).toEqual([
    expect.stringContaining("no output is kept under this handle; call the tool again"),
    ...Array.from({ length: 4 }, () => "xxxx"),
  ]);
});

function setUp(
  options: Parameters<typeof createWorkspace>[0],
  isHeard = true,
): { workspace: Workspace; events: CallEvent[] } {
  const number = (name: string) => ({ type: "object", properties: { [name]: { type: "number" } } }) as const;
  const tools = [
    defineTool({ name: "rows", description: "Rows", input: number("count"), run: ({ count }) => rows(Number(count)) }),
    defineTool({
      name: "text",
      description: "Text",
      input: number("length"),
      run: ({ length }) => "x".repeat(Number(length)),
    }),
    defineTool({
      name: "inside",
      description: "Measures text",
      input: number("length"),
      async run(input, { call }) {
        const outcome = await call("text", input);
        return outcome.status === "ok" ? String(outcome.output).length : outcome;
      },
    }),
  ];
  const workspace = createWorkspace({ tools, ...options });
  const events: CallEvent[] = [];
  if (isHeard) workspace.onEvent((event) => events.push(event));
  return { workspace, events };
}

function rows(count: number): unknown[] {
  return Array.from({ length: count }, (_, id) => ({ id, name: `row ${id} €` }));
}

function headOf(outcome: ToolOutcome): OutputHead {
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  return outcome.output as unknown as OutputHead;
}

async function readAll(workspace: Workspace, handle: string): Promise<string> {
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page: Awaited<ReturnType<Workspace["readOutput"]>> = await workspace.readOutput(handle, {
      offset,
      length: 777,
    });
    text += page.text;
    offset = page.nextOffset;
  }
  return text;
}
