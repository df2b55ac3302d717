import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { toModelTool } from "./to-model-tools.ts";

test("toModelTool() passes on what a tool says about changing things, and nothing if it says nothing", () => {
  const annotations = [{ readOnly: true, idempotent: true }, { readOnly: false, destructive: true }, {}];
  const tools = annotations.map((said, index) =>
    defineTool({ name: `tool-${index}`, description: "Does it", annotations: said, run: () => "done" }),
  );

  const shown = createWorkspace({ tools }).getAvailableTools().map(toModelTool);

  expect(shown.map(({ providerOptions }) => providerOptions)).toEqual([
    { kitbag: { readOnly: true } },
    { kitbag: { readOnly: false, destructive: true } },
    undefined,
  ]);
});
