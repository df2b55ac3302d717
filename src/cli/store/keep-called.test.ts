import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Tool } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createVersions } from "../../records/versions/versions.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { keepCalled } from "./open-records.ts";

test("keepCalled() keeps an earlier version that was called, and leaves the live one the current one", async () => {
  const store = memoryStore();
  const workspace = createWorkspace();
  workspace.add(greet("2.0.0"), { versions: [greet("1.0.0")] });
  const place = { store, author: "ada", onError: (cause: unknown) => expect(cause).toBeUndefined() };
  const [live, earlier] = ["greet", "greet@1.0.0"].map((address) => workspace.getTool(address)!);

  for (const called of [earlier, earlier, undefined, earlier]) {
    await keepCalled({ tools: [live!], skill: undefined, earlier: called }, place);
  }

  const versions = createVersions(store);
  expect((await versions.list("greet")).map(({ label }) => label)).toEqual(["1.0.0", "2.0.0"]);
  expect(await versions.current("greet")).toMatchObject({ label: "2.0.0" });
  expect(await store.log.position("versions:greet")).toBe(2);
});

function greet(version: string): Tool {
  return defineTool({ name: "greet", description: `Greets as ${version} does`, version, run: () => "hello" });
}
