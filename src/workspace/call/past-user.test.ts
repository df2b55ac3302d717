import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Scopes } from "../../core/scopes.ts";
import { createWorkspace } from "../create-workspace.ts";
import { toPastUser } from "./authority.ts";

test.for<[then: readonly string[] | "all", now: Scopes, called: readonly string[]]>([
  ["all", "all", ["look", "wipe"]],
  ["all", new Set(["tools:read"]), ["look"]],
  [["tools:read"], "all", ["look"]],
  [["tools:of:global:wipe"], new Set(["tools:read"]), []],
  [["tools:read"], new Set(["tools"]), ["look"]],
])("toPastUser() of a user with %j then and %j now lets call %j", async ([then, now, called]) => {
  const look = defineTool({ name: "look", description: "d", annotations: { readOnly: true }, run: () => 1 });
  const wipe = defineTool({ name: "wipe", description: "d", run: () => 1 });
  const workspace = createWorkspace({ tools: [look, wipe] });
  const options = toPastUser({ user: "ann", scopes: then }, () => now);

  const outcomes = await Promise.all(["look", "wipe"].map((name) => workspace.call(name, {}, options)));

  expect(["look", "wipe"].filter((_, index) => outcomes[index]?.status === "ok")).toEqual(called);
});

test("toPastUser() without a look-up counts what the user could call then, and refuses an unknown user", () => {
  expect(toPastUser({ user: "ann", scopes: ["tools:read"] }, undefined)).toEqual({
    user: "ann",
    scopes: new Set(["tools:read"]),
  });
  expect(toPastUser({}, undefined)).toEqual({ scopes: "all" });
  expect(() => toPastUser({ user: "ann" }, () => undefined)).toThrow(expect.objectContaining({ code: "user-unknown" }));
});
