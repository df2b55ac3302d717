import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import type { Tool, ToolAnnotations } from "../core/tool.ts";
import { tighten } from "./registry/registry.ts";

test("tighten() leaves a version as it is that is as strict as the tool of now", () => {
  const earlier = makeTool({ destructive: true }, true);

  expect(tighten(earlier, makeTool({}))).toBe(earlier);
  expect(tighten(earlier, makeTool({ destructive: true }, true))).toBe(earlier);
});

test("tighten() adds only what the tool of now is stricter in", () => {
  expect(tighten(makeTool({ readOnly: true }), makeTool({ readOnly: true }, true))).toMatchObject({
    needsApproval: true,
    annotations: { readOnly: true },
  });
  expect(tighten(makeTool({}), makeTool({ destructive: true }))).toMatchObject({
    needsApproval: false,
    annotations: { destructive: true },
  });
  expect(tighten(makeTool({ readOnly: true }), makeTool({})).annotations).toEqual({ readOnly: false });
});

function makeTool(annotations: ToolAnnotations, needsApproval = false): Tool {
  return defineTool({ name: "x", description: "Does something", annotations, needsApproval, run: () => 1 });
}
