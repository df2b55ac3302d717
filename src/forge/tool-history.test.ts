import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import {
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
  type TestForge,
} from "../../test/support/open-test-forge.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const markers = "<<<<<<< ours\n{}\n=======\n{ }\n>>>>>>> theirs\n";

test("rollbackTool() puts a version in the place of what cannot be read, and keeps that aside", async () => {
  const { forge, workspace, folder } = await openBroken();

  const answer = expectLive(await forge.rollbackTool("say", "1.0.0"));

  expect(answer.diagnostics).toMatchObject([{ code: "broken-kept" }]);
  expect(await outputOf(workspace, "say")).toBe("A");
  expect(readdirSync(join(folder, "versions"))).toEqual(["1.0.0", "1.0.1", "broken-1"]);
  expect(readFileSync(join(folder, "versions/broken-1/manifest.json"), "utf8")).toBe(markers);
  expect(readFileSync(join(folder, "versions/broken-1/notes.txt"), "utf8")).toBe("mine");
  expect((await forge.listVersions("say")).map(({ version }) => version)).toEqual(["1.0.0", "1.0.1"]);
});

test("rollbackTool() keeps each thing that cannot be read in a folder of its own", async () => {
  const { forge, folder } = await openBroken();
  await forge.rollbackTool("say", "1.0.0");
  writeFileSync(join(folder, "manifest.json"), "{");

  await forge.rollbackTool("say", "1.0.1");

  expect(readFileSync(join(folder, "versions/broken-1/manifest.json"), "utf8")).toBe(markers);
  expect(readFileSync(join(folder, "versions/broken-2/manifest.json"), "utf8")).toBe("{");
});

test("rollbackTool() brings no version back in the place of what cannot be read that is laxer than the last one", async () => {
  const { forge, directory } = await openTestForge(runtimes, { policy: { permissions: { network: ["a.example"] } } });
  await forge.createTool({ ...sayTool("say", "A"), needsApproval: false });
  await forge.updateTool("say", { needsApproval: true });
  writeFileSync(join(directory, ".kitbag/tools/say/manifest.json"), markers);

  const refused = expectRefused(await forge.rollbackTool("say", "1.0.0"));
  const agreed = await forge.rollbackTool("say", "1.0.0", { isAgreed: true });

  expect(refused.error.message).toContain("kitbag rollback say 1.0.0");
  expectLive(agreed);
});

test("deleteTool() takes a tool out whose manifest cannot be read, and restoreTool() brings its last version back", async () => {
  const { forge, workspace, folder } = await openBroken();

  const deleted = await forge.deleteTool("say");
  const gone = await outputOf(workspace, "say");
  const restored = await forge.restoreTool("say");

  expect(deleted).toMatchObject({ name: "say", version: "1.0.1" });
  expect(gone).toBe("tool-not-found");
  expectLive(restored);
  expect(await outputOf(workspace, "say")).toBe("B");
  expect(readFileSync(join(folder, "versions/broken-1/manifest.json"), "utf8")).toBe(markers);
});

test("updateTool(), createTool() and testTool() name the version to go back to if the manifest cannot be read", async () => {
  const { forge } = await openBroken();
  const cure = "kitbag rollback say 1.0.1";

  await expect(forge.updateTool("say", { title: "x" })).rejects.toThrow(cure);
  await expect(forge.testTool("say")).rejects.toThrow(cure);
  expect(expectRefused(await forge.createTool(sayTool("say", "C"))).error.message).toContain(cure);
  expect(await forge.readDraft("say")).toMatchObject({ name: "say" });
});

test("deleteTool() names the folder of a tool that cannot be read and has no versions", async () => {
  const { forge, directory } = await openBroken();
  const other = join(directory, ".kitbag/tools/other");
  cpSync(join(directory, ".kitbag/tools/say/notes.txt"), join(other, "notes.txt"));

  await expect(forge.deleteTool("other")).rejects.toThrow("remove the folder .kitbag/tools/other");
});

test("testTool() of a tool that nobody has trusted says so", async () => {
  const { forge, folder } = await openBroken();
  await forge.rollbackTool("say", "1.0.0");
  writeFileSync(join(folder, "main.sh"), "echo mine\n");

  await expect(forge.testTool("say")).rejects.toThrow("is not trusted; Read it, then run: kitbag trust");
});

/** A forge with the tool `say` at 1.0.1, whose manifest a merge has broken. */
async function openBroken(): Promise<TestForge & { readonly folder: string }> {
  const opened = await openTestForge(runtimes);
  await opened.forge.createTool(sayTool("say", "A"));
  await opened.forge.updateTool("say", sayTool("say", "B"));
  const folder = join(opened.directory, ".kitbag/tools/say");
  writeFileSync(join(folder, "manifest.json"), markers);
  writeFileSync(join(folder, "notes.txt"), "mine");
  return { ...opened, folder };
}
