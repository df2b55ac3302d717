import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace, WorkspaceOptions } from "../workspace.ts";
import { createOutputTool } from "./output-tool.ts";

test("readOutput() finds for a user only what was kept for that user", async () => {
  const workspace = open();
  const handle = await makeLarge(workspace, "ada");

  expect(await workspace.readOutput(handle, { user: "ada" })).toMatchObject({ bytes: 3000 });
  for (const user of ["bob", "local"]) {
    await expect(workspace.readOutput(handle, { user })).rejects.toMatchObject({ code: "output-missing" });
    await expect(workspace.searchOutput(handle, { text: "x", user })).rejects.toMatchObject({ code: "output-missing" });
    await expect(workspace.sliceOutput(handle, { user })).rejects.toMatchObject({ code: "output-missing" });
  }
});

test("readOutput() finds for each of two users an output that both of them have", async () => {
  const workspace = open();
  const handle = await makeLarge(workspace, "ada");
  await makeLarge(workspace, "local");

  expect(await workspace.readOutput(handle, { user: "ada" })).toMatchObject({ bytes: 3000 });
  expect(await workspace.readOutput(handle, { user: "local" })).toMatchObject({ bytes: 3000 });
});

test("readOutput() without a user finds what is kept for any user: it is the program that asks", async () => {
  const workspace = open();
  const handle = await makeLarge(workspace, "ada");

  expect(await workspace.readOutput(handle)).toMatchObject({ bytes: 3000 });
});

test("an output that is older than owners is the local user's", async () => {
  const store = memoryStore();
  const handle = `output:${await store.blobs.put(new TextEncoder().encode("old"))}`;
  const workspace = open({ store, localUser: "ada" });

  expect(await workspace.readOutput(handle, { user: "local" })).toMatchObject({ text: "old" });
  expect(await workspace.readOutput(handle, { user: "ada" })).toMatchObject({ text: "old" });
  await expect(workspace.readOutput(handle, { user: "bob" })).rejects.toMatchObject({ code: "output-missing" });
});

test("read_output reads for the user who calls it", async () => {
  const workspace = open();
  workspace.add(createOutputTool(workspace));
  const handle = await makeLarge(workspace, "ada");
  const read = (user: string, more: object): Promise<unknown> =>
    workspace.call("read_output", { handle, ...more }, { user, maxOutputBytes: 100_000 });

  for (const more of [{}, { search: "x" }, { from: 0 }]) {
    expect(await read("bob", more)).toMatchObject({ error: { message: expect.stringContaining("Cannot read") } });
  }
  expect(await read("ada", {})).toMatchObject({ status: "ok" });
});

function open(options: WorkspaceOptions = {}): Workspace {
  const large = defineTool({ name: "large", description: "Says much", run: () => "x".repeat(3000) });
  return createWorkspace({ tools: [large], limits: { maxOutputBytes: 1000 }, ...options });
}

async function makeLarge(workspace: Workspace, user: string): Promise<string> {
  const outcome = await workspace.call("large", {}, { user });
  return (outcome.status === "ok" && outcome.capped?.handle) || "none";
}

test("readOutputBytes() of a workspace and of a session gives the bytes to their user alone", async () => {
  const big = defineTool({ name: "big", description: "Says much", run: () => "x".repeat(5000) });
  const workspace = createWorkspace({ tools: [big], limits: { maxOutputBytes: 1000 } });
  const { capped } = (await workspace.call("big")) as { capped?: { handle: string } };
  const handle = capped?.handle ?? "";

  for (const reader of [workspace, workspace.openSession()]) {
    expect((await reader.readOutputBytes(handle)).length).toBeGreaterThanOrEqual(5000);
    await expect(reader.readOutputBytes(handle, { user: "bob" })).rejects.toMatchObject({ code: "output-missing" });
  }
});

test("keepFile() of a workspace and of a session keeps bytes for their user, in that user's quota", async () => {
  const workspace = createWorkspace({ quotas: { users: { ada: { bytes: 5 } } }, store: memoryStore() });
  const bytes = Uint8Array.from([0, 255, 1]);

  for (const keeper of [workspace, workspace.openSession()]) {
    const { handle } = await keeper.keepFile(bytes, { user: "ada" });
    expect(await keeper.readOutputBytes(handle, { user: "ada" })).toEqual(bytes);
    await expect(keeper.readOutputBytes(handle, { user: "bob" })).rejects.toMatchObject({ code: "output-missing" });
  }
  await expect(workspace.keepFile(new Uint8Array(4), { user: "ada" })).rejects.toMatchObject({ code: "quota-reached" });
  expect(await workspace.keepFile(new Uint8Array(9))).toMatchObject({ bytes: 9 });
});
