import { expect, test } from "vitest";

import { toFailure } from "../../core/errors.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import { findLimitedCaller, type LimitedCaller } from "./limited-caller.ts";

test("findLimitedCaller() knows for whom a tool makes calls, if they may not call every tool", async () => {
  const found: (LimitedCaller | undefined)[] = [];
  const tool = defineTool({
    name: "look",
    description: "Looks who calls",
    run: (_input, { call }) => void found.push(findLimitedCaller(call)),
  });
  const workspace = createWorkspace({ tools: [tool] });
  const refuse = (): undefined => undefined;
  await workspace.call("look", {}, { user: "Ada" });
  await workspace.call("look", {}, { user: "Bob", refuse });
  await workspace.call("look", {}, { refuse: () => toFailure("tool-unavailable", { tool: "look" } as never) });

  expect(found).toEqual([undefined, { user: "Bob", refuse }]);
  expect(findLimitedCaller(undefined)).toBeUndefined();
});
