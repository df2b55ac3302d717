import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readFolder } from "../skills/folder/read-folder.ts";
import { toDigests } from "../skills/trust/folder-trust.ts";
import { updateTrust } from "../skills/trust/trust-file.ts";
import {
  countWords,
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  type TestForge,
} from "../../test/support/open-test-forge.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("adoptTool() makes the next version of what was written by hand, byte for byte", async () => {
  const { forge, workspace, directory } = await openEdited((text) => text.replace("const text", "// mine\nconst text"));
  writeFileSync(join(directory, "data.bin"), Buffer.from([0, 255, 7]));
  const edited = forge.listTools();

  const answer = expectLive(await forge.adoptTool("count-words", { author: "ada" }));

  expect(edited).toMatchObject([{ status: "untrusted", version: "1.0.1", editedByHand: true }]);
  expect(answer).toMatchObject({ version: "1.0.1", change: { from: "1.0.0", step: "patch" } });
  expect(answer.examples).toMatchObject([{ passed: true }]);
  expect(await outputOf(workspace, "count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(readFileSync(join(directory, "versions/1.0.1/main.js"), "utf8")).toMatch(/^\/\/ mine/u);
  expect(readFileSync(join(directory, "versions/1.0.1/data.bin"))).toEqual(Buffer.from([0, 255, 7]));
  expect(await forge.history("count-words")).toMatchObject([
    { type: "create", version: "1.0.0" },
    { type: "update", version: "1.0.1", from: "1.0.0", step: "patch", author: "ada" },
  ]);
  expect(forge.listTools()[0]).not.toHaveProperty("editedByHand");
});

test("adoptTool() counts the version up by how far it is from the one before", async () => {
  const { forge, directory } = await openEdited((text) => text);
  const path = join(directory, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...manifest, annotations: { destructiveHint: true } }));

  const answer = expectLive(await forge.adoptTool("count-words"));

  expect(answer).toMatchObject({ version: "2.0.0", change: { step: "major" } });
});

test("adoptTool() does not let anything live whose examples do not pass, and says why", async () => {
  const { forge, workspace, directory } = await openEdited(() => 'console.log("broken");\n');

  const answer = expectRefused(await forge.adoptTool("count-words"));

  expect(answer.error.message).toContain("1 of 1 examples did not pass, so it is not live");
  expect(answer.examples).toMatchObject([{ passed: false }]);
  // The last good version stays.
  expect(await outputOf(workspace, "count-words", { text: "a" })).toEqual({ words: 1 });
  expect(readdirSync(join(directory, "versions"))).toEqual(["1.0.0"]);
  expectLive(await forge.rollbackTool("count-words", "1.0.0"));
  expect(await outputOf(workspace, "count-words", { text: "a" })).toEqual({ words: 1 });
});

test("adoptTool() refuses what has no example, what cannot be made, and what is not what was read", async () => {
  const { forge, directory } = await openEdited((text) => text);
  const path = join(directory, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;

  await expect(forge.adoptTool("count-words", { digest: "sha256:0" })).rejects.toMatchObject({
    code: "version-conflict",
  });
  writeFileSync(path, JSON.stringify({ ...manifest, examples: [] }));
  const none = expectRefused(await forge.adoptTool("count-words"));
  writeFileSync(path, JSON.stringify({ ...manifest, input_schema: { type: "objekt" } }));
  const wrong = expectRefused(await forge.adoptTool("count-words"));

  expect(none.diagnostics).toMatchObject([{ code: "examples-missing" }]);
  expect(wrong.diagnostics).toMatchObject([{ severity: "error" }]);
  await expect(forge.adoptTool("nobody")).rejects.toMatchObject({ code: "tool-not-found" });
});

test("adoptTool() leaves a tool alone that nobody changed", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const answer = expectLive(await forge.adoptTool("count-words"));

  expect(answer.version).toBe("1.0.0");
  expect(await forge.history("count-words")).toHaveLength(1);
});

test("a label means what is kept under it, also while something else was written by hand and is trusted", async () => {
  const { forge, workspace, directory, home } = await openEdited((text) =>
    text.replace("words.length", "10 * words.length"),
  );
  const { files } = readFolder(directory);
  await updateTrust(home, ({ folders }) => void folders.set(directory, toDigests(files)));
  await forge.refresh();

  const byHand = await outputOf(workspace, "count-words", { text: "a b" });
  const kept = await outputOf(workspace, "count-words@1.0.0", { text: "a b" });
  const versions = await forge.listVersions("count-words");
  const back = expectLive(await forge.rollbackTool("count-words", "1.0.0"));

  expect([byHand, kept]).toEqual([{ words: 20 }, { words: 2 }]);
  expect(versions.map(({ version, current }) => [version, current])).toEqual([
    ["1.0.0", false],
    ["1.0.1", true],
  ]);
  expect(back.version).toBe("1.0.0");
  expect(await outputOf(workspace, "count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(await outputOf(workspace, "count-words@1.0.1", { text: "a b" })).toEqual({ words: 20 });
});

/** A forge whose tool `count-words` was changed by hand; `directory` is the folder of the tool. */
async function openEdited(edit: (text: string) => string): Promise<TestForge> {
  const opened = await openTestForge(runtimes, { watch: false });
  await opened.forge.createTool(countWords);
  const directory = readFolder(join(opened.directory, ".kitbag/tools/count-words")).directory;
  const path = join(directory, "main.js");
  writeFileSync(path, edit(readFileSync(path, "utf8")));
  await opened.forge.refresh();
  return { ...opened, directory };
}
