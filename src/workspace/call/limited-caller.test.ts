import { expect, test } from "vitest";

import { toFailure } from "../../core/errors.ts";
import { defineTool, toMetaTool } from "../../core/define-tool.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import { findAuthor, findLimitedCaller, type LimitedCaller } from "./authority.ts";

test("findLimitedCaller() knows for whom a tool makes calls, unless it is the program itself", async () => {
  const found: (LimitedCaller | undefined)[] = [];
  const tool = defineTool({
    name: "look",
    description: "Looks who calls",
    run: (_input, { call }) => void found.push(findLimitedCaller(call)),
  });
  const workspace = createWorkspace({ tools: [toMetaTool(tool)] });
  const refuse = (): undefined => undefined;
  await workspace.call("look", {}, { user: "Ada" });
  await workspace.call("look", {}, { user: "Bob", refuse });
  await workspace.call("look", {}, { refuse: () => toFailure("tool-unavailable", { tool: "look" } as never) });

  await workspace.call("look");

  expect(found.map((caller) => caller?.owns("Bob"))).toEqual([false, true, undefined]);
  expect(found.map((caller) => caller?.owns("Ada"))).toEqual([true, false, undefined]);
  expect(findLimitedCaller(undefined)).toBeUndefined();
});

test("findAuthor() records the scopes of the outermost caller, and none where a function decides", async () => {
  const found: ToolAuthor[] = [];
  const tool = defineTool({
    name: "make",
    description: "Makes something",
    run: (_input, { call }) => void found.push(findAuthor(call)),
  });
  const workspace = createWorkspace({ tools: [toMetaTool(tool)] });
  await workspace.call("make");
  await workspace.call("make", {}, { user: "Ada", scopes: "all" });
  await workspace.call("make", {}, { user: "Bob", scopes: new Set(["tools:write", "tools:read"]) });
  await workspace.call("make", {}, { user: "Cyd", refuse: () => undefined });

  expect(found).toEqual([
    { scopes: "all" },
    { user: "Ada", scopes: "all" },
    { user: "Bob", scopes: ["tools:read", "tools:write"] },
    { user: "Cyd", scopes: [] },
  ]);
  expect(findAuthor(undefined)).toEqual({ scopes: "all" });
});
