import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import { createWorkspace } from "./create-workspace.ts";

test("openState() opens what a tool keeps, whichever way it is named", async () => {
  const count = defineTool({
    name: "count",
    description: "Counts its calls",
    run: async (_input, { state }) => state.update("calls", (before) => Number(before ?? 0) + 1),
  });
  const workspace = createWorkspace({ components: [{ name: "parts", tools: [count] }] });
  await workspace.call("parts/count");

  await workspace.openState("parts__count").set("calls", 41);

  expect(await workspace.call("parts/count")).toMatchObject({ status: "ok", output: 42 });
  expect(await workspace.openState("count").get("calls")).toBe(42);
});

test("openState() says which tools there are when it is asked for one that there is not", () => {
  const workspace = createWorkspace();

  expect(() => workspace.openState("nobody")).toThrow("Cannot find the tool");
  expect(() => workspace.openState("../x")).toThrow("Cannot read the address");
});

test("openState() opens the state of the user it is asked for, by default the local user's", async () => {
  const note = defineTool({
    name: "note",
    description: "Notes who called",
    run: async (_input, { state, user }) => state.set("user", user ?? "none"),
  });
  const workspace = createWorkspace({ tools: [note] });

  await workspace.call("note", {}, { user: "ada" });
  await workspace.call("note");

  expect(await workspace.openState("note", { user: "ada" }).get("user")).toBe("ada");
  expect(await workspace.openState("note").get("user")).toBe("none");
});
