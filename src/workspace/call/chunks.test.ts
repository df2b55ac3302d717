import { expect, test } from "vitest";

import { createTool, defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("push() hands on each piece to those who listen, as it was at that moment", async () => {
  const rows = [1];
  const tool = yielding(function* () {
    yield "a";
    yield rows;
    rows.push(2);
    yield rows;
  });

  const { chunks } = await listen(tool);

  expect(chunks).toEqual(["a", [1], [1, 2]]);
});

test("push() needs nobody who listens", async () => {
  const tool = yielding(function* () {
    yield "a";
    yield "b";
  });

  const outcome = await createWorkspace({ tools: [tool] }).call("yielding");

  expect(outcome).toMatchObject({ status: "ok", output: "ab" });
});

test.for<[string, unknown]>([
  ["a function", () => {}],
  ["NaN", Number.NaN],
  ["the key __proto__", JSON.parse('{"__proto__":1}')],
])("push() refuses %s, whether somebody listens or not", async ([, piece]) => {
  const tool = yielding(function* () {
    yield piece;
  });

  const unheard = await createWorkspace({ tools: [tool] }).call("yielding");
  const { outcome, chunks } = await listen(tool);

  expect(unheard).toMatchObject({ error: { code: "output-invalid", details: { tool: "yielding" } } });
  expect(outcome).toMatchObject({ error: { code: "output-invalid" } });
  expect(chunks).toEqual([]);
});

test("push() refuses pieces that are too much together", async () => {
  const tool = yielding(function* () {
    for (;;) yield "x".repeat(100);
  });

  const { outcome, chunks } = await listen(tool, { maxKeptBytes: 1000 });

  expect(outcome).toMatchObject({ error: { code: "output-too-large", details: { limitBytes: 1000 } } });
  expect(chunks.length).toBeLessThan(10);
});

test("push() does nothing when the call is over", async () => {
  let context: RuntimeContext | undefined;
  const late: Runtime = {
    kind: "late",
    run(_tool, _input, given) {
      context = given;
      given.chunk("in time");
      return "done";
    },
  };
  const tool = createTool({ name: "yielding", description: "Yields", code: { kind: "late" } });

  const { outcome, chunks } = await listen(tool, {}, [late]);
  context?.chunk("too late");
  context?.chunk(Number.NaN);

  expect(outcome).toMatchObject({ status: "ok", output: "done" });
  expect(chunks).toEqual(["in time"]);
});

function yielding(run: () => Generator<unknown, void>): Tool {
  return defineTool({ name: "yielding", description: "Yields", run: run as () => Generator<string, void> });
}

async function listen(tool: Tool, limits = {}, runtimes: readonly Runtime[] = []) {
  const chunks: unknown[] = [];
  const onEvent = (event: CallEvent): void => {
    if (event.type === "call-chunk") chunks.push(event.chunk);
  };
  const outcome = await createWorkspace({ tools: [tool], limits, runtimes }).call("yielding", {}, { onEvent });
  return { outcome, chunks };
}
