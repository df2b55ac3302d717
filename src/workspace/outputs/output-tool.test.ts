import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { createWorkspace } from "../create-workspace.ts";
import { createOutputTool } from "./output-tool.ts";

test("read_output gives pages of 8 KiB, from the beginning or from an offset", async () => {
  const { handle, read } = await capped();

  const first = await read({ handle });
  const second = await read({ handle, offset: 8192 });

  expect(first).toMatchObject({ status: "ok", output: { offset: 0, nextOffset: 8192 } });
  expect(second).toMatchObject({ status: "ok", output: { offset: 8192 } });
});

test("read_output finds words", async () => {
  const { handle, read } = await capped();

  const first = await read({ handle, search: "name 4", limit: 1 });
  const next = await read({ handle, search: "name 4", offset: 100 });

  expect(first).toMatchObject({ status: "ok", output: { matches: [{ context: expect.stringContaining("name 4") }] } });
  expect(next).toMatchObject({ status: "ok" });
});

test("read_output takes out a part of JSON", async () => {
  const { handle, read } = await capped();

  const one = await read({ handle, path: "[7].name" });
  const some = await read({ handle, from: 998 });

  expect(one).toMatchObject({ status: "ok", output: { value: "name 7" } });
  expect(some).toMatchObject({ status: "ok", output: { value: [{ name: "name 998" }, { name: "name 999" }] } });
});

test("read_output says what is wrong", async () => {
  const { handle, read } = await capped();

  expect(await read({ handle, search: "a", path: "b" })).toMatchObject({ error: { code: "option-invalid" } });
  expect(await read({ handle: "output:1" })).toMatchObject({ error: { code: "output-missing" } });
  expect(await read({})).toMatchObject({ error: { code: "input-invalid" } });
});

async function capped(): Promise<{ handle: string; read: (input: object) => Promise<ToolOutcome> }> {
  const rows = Array.from({ length: 1000 }, (_, index) => ({ name: `name ${index}` }));
  const workspace = createWorkspace({
    tools: [defineTool({ name: "list", description: "Lists rows", run: () => rows })],
    limits: { maxOutputBytes: 10_000 },
  });
  workspace.add(createOutputTool(workspace));
  const outcome = await workspace.call("list");
  const handle = outcome.status === "ok" ? (outcome.capped?.handle ?? "") : "";
  return { handle, read: (input) => workspace.call("read_output", input) };
}
