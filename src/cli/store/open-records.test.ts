import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Tool } from "../../core/tool.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createVersions } from "../../records/versions/versions.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { createRecords } from "./open-records.ts";

test("keepVersions() keeps the new version of a tool that changes between two calls, with whose call it was", async () => {
  const records = createRecords(toInvocation("memory"));
  const options = await records.complete({});
  const workspace = createWorkspace({ ...options, tools: [greet("1.0.0")] });
  records.keepVersions(workspace);

  await workspace.call("greet");
  await workspace.call("greet");
  workspace.replace(greet("2.0.0"));
  await workspace.call("greet");

  const versions = options.store && createVersions(options.store);
  await expect.poll(() => versions?.list("greet")).toHaveLength(2);
  expect(await versions?.list("greet")).toMatchObject([
    { number: 1, label: "1.0.0", author: records.user },
    { number: 2, label: "2.0.0", author: records.user },
  ]);
  await records.close();
});

function greet(version: string): Tool {
  return defineTool({ name: "greet", description: "Greets", version, run: () => "Hello" });
}

function toInvocation(store: string): Invocation {
  const cwd = createFolder();
  return {
    args: [],
    options: { store },
    json: false,
    env: { KITBAG_HOME: cwd },
    cwd,
    terminal: {},
  } as unknown as Invocation;
}
