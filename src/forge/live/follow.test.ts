import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { readFolder } from "../../skills/folder/read-folder.ts";
import { toDigests } from "../../skills/trust/folder-trust.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { defineTool } from "../../core/define-tool.ts";
import {
  countWords,
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
  type TestForge,
} from "../../../test/support/open-test-forge.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("openForge() runs nothing that was not made here until somebody trusts it", async () => {
  const other = await openTestForge(runtimes);
  await other.forge.createTool(sayTool("say", "A"));
  const mine = await openTestForge(runtimes);
  copyTool(other, mine, "say");
  await mine.forge.refresh();
  const before = { tools: mine.forge.listTools(), output: await outputOf(mine.workspace, "say") };
  const refused = await mine.forge.updateTool("say", { title: "x" }).catch((cause: unknown) => cause);

  await trust(mine, "say");
  await vi.waitFor(() => expect(mine.workspace.getTool("say")).toBeDefined(), { timeout: 5000 });

  expect(before.tools).toMatchObject([{ name: "say", status: "untrusted", diagnostics: [{ code: "tool-untrusted" }] }]);
  expect(before.tools[0]?.diagnostics[0]?.cure).toContain("kitbag trust .kitbag/tools/say");
  expect(before.output).toBe("tool-not-found");
  expect(refused).toMatchObject({ code: "draft-refused" });
  expect(String(await outputOf(mine.workspace, "say")).trim()).toBe("A");
});

test("updateTool() keeps what was trusted, and all its versions, runnable", async () => {
  const other = await openTestForge(runtimes);
  await other.forge.createTool(sayTool("say", "A"));
  await other.forge.updateTool("say", { title: "Say" });
  const mine = await openTestForge(runtimes);
  copyTool(other, mine, "say");
  await trust(mine, "say");
  await mine.forge.refresh();

  const { code, examples } = sayTool("say", "C");
  const answer = expectLive(await mine.forge.updateTool("say", { code, examples }));

  expect(answer.version).toBe("1.0.2");
  expect(String(await outputOf(mine.workspace, "say@1.0.0")).trim()).toBe("A");
  expect(String(await outputOf(mine.workspace, "say@1.0.1")).trim()).toBe("A");
  expect(String(await outputOf(mine.workspace, "say")).trim()).toBe("C");
});

test("openForge() keeps the last good version of a tool that is changed by hand, and says so, until that is trusted", async () => {
  const { forge, workspace, directory, home } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  await forge.updateTool("say", sayTool("say", "B"));
  const file = join(directory, ".kitbag/tools/say/main.sh");
  const description = (): string | undefined => workspace.getTool("say")?.tool.description;

  writeFileSync(file, readFileSync(file, "utf8").replace("B", "hand"));
  await vi.waitFor(() => expect(description()).toContain("changed by hand"), { timeout: 5000 });
  const [listed] = forge.listTools();
  const told = description();
  const said = [await outputOf(workspace, "say"), await outputOf(workspace, "say@1.0.0")];
  const refused = await forge.updateTool("say", { title: "x" }).catch((cause: unknown) => cause);
  await trust({ directory, home }, "say");
  await vi.waitFor(() => expect(description()).not.toContain("changed by hand"), { timeout: 5000 });

  expect(said).toEqual(["B", "A"]);
  expect(told).toContain("This is version 1.0.1.");
  expect(told).toContain("Read it, then run: kitbag trust .kitbag/tools/say");
  expect(listed).toMatchObject({
    status: "untrusted",
    diagnostics: [{ message: expect.stringContaining("by hand") as string }],
  });
  expect(refused).toMatchObject({ code: "draft-refused", message: expect.stringContaining("kitbag trust") as string });
  expect(await outputOf(workspace, "say")).toBe("hand");
});

test("openForge() keeps the last good version of a tool whose manifest is broken by hand", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));

  writeFileSync(join(directory, ".kitbag/tools/say/manifest.json"), '{"name": "say"');
  await forge.refresh();

  expect(forge.listTools()).toMatchObject([{ name: "say", status: "broken" }]);
  expect(await outputOf(workspace, "say")).toBe("A");
  expect(workspace.getTool("say")?.tool.description).toContain("kitbag rollback say 1.0.0");
});

test("updateTool() keeps what was written by hand as a version of its own", async () => {
  const { forge, workspace, directory, home } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const file = join(directory, ".kitbag/tools/say/main.sh");
  writeFileSync(file, readFileSync(file, "utf8").replace("A", "hand"));
  await trust({ directory, home }, "say");
  await forge.refresh();

  const { code, examples } = sayTool("say", "C");
  const answer = expectLive(await forge.updateTool("say", { code, examples }));

  const labels = (await forge.listVersions("say")).map(({ version }) => version);
  const said = [];
  for (const label of labels) said.push(String(await outputOf(workspace, `say@${label}`)).trim());
  expect(answer.version).toBe("1.0.2");
  expect(said).toEqual(["A", "hand", "C"]);
});

test("rollbackTool() undoes a change by hand, keeps it as a version, and does not let that run", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const file = join(directory, ".kitbag/tools/say/main.sh");
  writeFileSync(file, readFileSync(file, "utf8").replace("A", "hand"));

  const answer = expectLive(await forge.rollbackTool("say", "1.0.0"));

  expect(answer.version).toBe("1.0.0");
  expect(String(await outputOf(workspace, "say")).trim()).toBe("A");
  expect((await forge.listVersions("say")).map(({ version }) => version)).toEqual(["1.0.0", "1.0.1"]);
  expect(await forge.readDraft("say", "1.0.1")).toMatchObject({ code: expect.stringContaining("hand") as string });
  expect(await outputOf(workspace, "say@1.0.1")).toBe("version-not-found");
});

test("createTool() under the name of a deleted tool does not let run what was written there by hand", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  await forge.deleteTool("say");
  writeFileSync(join(directory, ".kitbag/tools/say/main.sh"), "echo evil\n");

  const answer = expectLive(await forge.createTool(sayTool("say", "B")));

  const said = [];
  for (const { version } of await forge.listVersions("say")) said.push(await outputOf(workspace, `say@${version}`));
  expect(String(await outputOf(workspace, "say")).trim()).toBe("B");
  expect(said.map((one) => String(one).trim())).toEqual(["A", "version-not-found", "B"]);
  expect(answer.version).toBe("1.0.2");
});

test("deleteTool() keeps what was written by hand, and restoreTool() brings exactly that back", async () => {
  const { forge, workspace, directory, home } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  const file = join(directory, ".kitbag/tools/say/main.sh");
  writeFileSync(file, readFileSync(file, "utf8").replace("A", "hand"));
  await trust({ directory, home }, "say");
  await forge.refresh();

  await forge.deleteTool("say");
  const gone = await outputOf(workspace, "say");
  const answer = expectLive(await forge.restoreTool("say"));

  expect(gone).toBe("tool-not-found");
  expect(answer.version).toBe("1.0.1");
  expect(String(await outputOf(workspace, "say")).trim()).toBe("hand");
  expect(String(await outputOf(workspace, "say@1.0.0")).trim()).toBe("A");
});

test("openForge() takes a tool out when somebody changes a version that is kept", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "A"));
  await forge.updateTool("say", { title: "Say" });

  writeFileSync(join(directory, ".kitbag/tools/say/versions/1.0.0/main.sh"), "echo evil\n");
  await forge.refresh();

  expect(await outputOf(workspace, "say@1.0.0")).toBe("version-not-found");
  expect(String(await outputOf(workspace, "say")).trim()).toBe("A");
  expect(expectRefused(await forge.rollbackTool("say", "1.0.0")).diagnostics).toMatchObject([
    { code: "tool-untrusted" },
  ]);
});

test("openForge() reports folders that it cannot use, and they do not vanish", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const tools = join(directory, ".kitbag/tools");
  const write = (name: string, text: string): void => {
    mkdirSync(join(tools, name), { recursive: true });
    writeFileSync(join(tools, name, "manifest.json"), text);
  };
  write("no-json", '{"tool_type": "script"');
  write("other-name", '{"name": "x", "tool_type": "script", "entry_file": "x.py"}');
  write("deep", `{"name": "deep", "tool_type": "script", "input_schema": ${'{"a":'.repeat(100)}1${"}".repeat(100)}}`);
  write("proto", '{"name": "proto", "tool_type": "script", "__proto__": {"x": 1}}');
  write("a b", "{}");
  mkdirSync(join(tools, "empty"));
  writeFileSync(join(tools, "empty/notes.md"), "x");
  symlinkSync(directory, join(tools, "link"));

  await forge.refresh();

  expect(forge.listTools().map(({ name, status, diagnostics }) => [name, status, diagnostics[0]?.code])).toEqual([
    ["a b", "broken", "name-invalid"],
    ["deep", "broken", "manifest-invalid"],
    ["empty", "broken", "manifest-missing"],
    ["link", "broken", "name-invalid"],
    ["no-json", "broken", "manifest-invalid"],
    ["other-name", "broken", "name-different"],
    ["proto", "broken", "manifest-invalid"],
  ]);
});

test("openForge() follows folders that go away and come back, as a change of branches does", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  const removed: string[] = [];
  workspace.onChange((change) => removed.push(...change.removed.map(({ address }) => address)));
  const folder = join(directory, ".kitbag/tools/count-words");
  const kept = join(directory, "kept");
  cpSync(folder, kept, { recursive: true });

  rmSync(folder, { recursive: true });
  await vi.waitFor(() => expect(workspace.getTool("count-words")).toBeUndefined(), { timeout: 5000 });
  cpSync(kept, folder, { recursive: true });
  await vi.waitFor(() => expect(workspace.getTool("count-words")).toBeDefined(), { timeout: 5000 });

  expect(removed).toEqual(["count-words"]);
  expect(forge.listTools()).toMatchObject([{ status: "live" }]);
});

test("openForge() leaves a tool of somebody else alone that has the name of one in the folder", async () => {
  const first = await openTestForge(runtimes);
  await first.forge.createTool(sayTool("say", "A"));
  const { directory, home } = first;
  const second = await openTestForge(runtimes);
  second.workspace.add(defineTool({ name: "say", description: "Is mine", run: () => "mine" }));

  const { forge } = await openTestForge(runtimes, { directory, home, workspace: second.workspace });

  expect(forge.listTools()).toMatchObject([
    { name: "say", status: "broken", diagnostics: [{ code: "tool-duplicate" }] },
  ]);
  expect(await outputOf(second.workspace, "say")).toBe("mine");
});

test("openForge() does not count drafts, locks and unfinished folders among the tools", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const tools = join(directory, ".kitbag/tools");
  mkdirSync(join(tools, "half/versions/.new-abc"), { recursive: true });
  mkdirSync(join(tools, ".waiting"), { recursive: true });
  writeFileSync(join(tools, ".half.lock"), "");
  rmSync(join(tools, ".half.lock"));

  await forge.refresh();
  const answer = expectLive(await forge.createTool(sayTool("half", "whole")));

  expect(answer.version).toBe("1.0.0");
  expect(readdirSync(tools).toSorted()).toEqual([".waiting", "half"]);
});

function copyTool(from: TestForge, to: TestForge, name: string): void {
  const [source, target] = [from, to].map(({ directory }) => join(directory, ".kitbag/tools", name));
  cpSync(source as string, target as string, { recursive: true });
}

/** What `kitbag trust` does, after the person has looked. */
async function trust({ directory, home }: Pick<TestForge, "directory" | "home">, name: string): Promise<void> {
  const folder = readFolder(join(directory, ".kitbag/tools", name));
  await updateTrust(home, ({ folders }) => void folders.set(folder.directory, toDigests(folder.files)));
}
