import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { readAudit } from "../../records/audit/export-audit.ts";
import { openAudit } from "../../records/audit/open-audit.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import { loadSkills } from "../skills/folder-skills.ts";
import type { Workspace } from "../workspace.ts";
import { keepVersions } from "./keep-versions.ts";

test("keepVersions() keeps the tools that are there, and those that come later", async () => {
  const workspace = createWorkspace({ tools: [greet("1.0.0", "Says hello")] });
  const { versions, settled } = keepVersions(workspace, memoryStore(), { author: "Ada" });
  workspace.replace(greet("1.1.0", "Says hello to somebody"));
  workspace.addComponent({ name: "shop", tools: [greet("3.0.0", "Sells")] });
  await settled();

  const list = await versions.list("greet");
  expect(list.map(({ label, author }) => [label, author])).toEqual([
    ["1.0.0", "Ada"],
    ["1.1.0", "Ada"],
  ]);
  expect(await versions.addresses()).toEqual(["greet", "shop/greet"]);
  expect((await versions.diff("greet", 1, 2)).definition).toContain('+  "description": "Says hello to somebody"');
});

test("keepVersions() keeps versions under the digest that the audit says, too", async () => {
  const store = memoryStore();
  const audit = await openAudit({ store, key: randomBytes(32), anchorFile: join(createFolder(), "audit.head") });
  onTestFinished(() => audit.close());
  const workspace = createWorkspace({ tools: [greet("1.0.0", "Says hello")], store, audit });
  const { versions, settled } = keepVersions(workspace, store);
  await workspace.call("greet");
  workspace.replace(greet("1.1.0", "Says hello to somebody"));
  await workspace.call("greet");
  await settled();

  const digests: string[] = [];
  for await (const entry of readAudit(store)) if (entry.type === "begin") digests.push(entry.toolDigest ?? "");
  const found = await Promise.all(digests.map((digest) => versions.get("greet", digest)));
  const byStart = await versions.get("greet", digests[0]?.slice(7, 19) ?? "");

  expect(found.map(({ label }) => label)).toEqual(["1.0.0", "1.1.0"]);
  expect(byStart.label).toBe("1.0.0");
  await expect(versions.get("greet", `sha256:${"0".repeat(64)}`)).rejects.toMatchObject({ code: "version-not-found" });
});

test("keepVersions() keeps a skill and its tools when it is opened, and not before", async () => {
  const skill = defineSkill({
    name: "talk",
    description: "Talks",
    version: "0.1.0",
    tools: [greet("1.0.0", "Greets")],
  });
  const workspace = createWorkspace({ skills: [skill] });
  const { versions, settled } = keepVersions(workspace, memoryStore());
  await settled();
  const before = await versions.addresses();

  await workspace.activateSkill("talk");
  await settled();

  expect(before).toEqual([]);
  expect(await versions.addresses()).toEqual(["talk", "talk/greet"]);
  expect(await versions.get("talk", "0.1.0")).toMatchObject({
    definition: { name: "talk", tools: [{ name: "greet" }] },
  });
});

test("keepVersions() keeps skills that are open, also if they have no tools, and none that is closed", async () => {
  const [open, closed] = ["talk", "write"].map((name) => defineSkill({ name, description: "Says how" }));
  const workspace = createWorkspace({ skills: [open, closed].flatMap((skill) => skill ?? []) });
  await workspace.activateSkill("talk");
  const { versions, settled } = keepVersions(workspace, memoryStore());
  await settled();

  expect(await versions.addresses()).toEqual(["talk"]);
});

test("keepVersions() keeps skills that only a session opens, skills without tools, and their new versions", async () => {
  const toSkill = (version: string): Skill => defineSkill({ name: "talk", description: "Says how", version });
  const tools = [greet("1.0.0", "Greets")];
  const write = defineSkill({ name: "write", description: "Writes", tools, requires: ["talk"] });
  const workspace = createWorkspace({ skills: [toSkill("1.0.0"), write] });
  const { versions, settled } = keepVersions(workspace, memoryStore());

  await workspace.openSession().activateSkill("write");
  workspace.replaceSkill(toSkill("1.1.0"));
  await settled();

  expect(await versions.addresses()).toEqual(["talk", "write", "write/greet"]);
  expect((await versions.list("talk")).map(({ label }) => label)).toEqual(expect.arrayContaining(["1.0.0", "1.1.0"]));
});

test("keepVersions() keeps no new version of a skill that nobody has open", async () => {
  const workspace = createWorkspace({ skills: [defineSkill({ name: "talk", description: "Talks" })] });
  const { versions, settled } = keepVersions(workspace, memoryStore());

  workspace.replaceSkill(defineSkill({ name: "talk", description: "Talks more" }));
  await settled();

  expect(await versions.addresses()).toEqual([]);
});

test("keepVersions() keeps every file of a skill's folder, and the script of each tool", async () => {
  const { workspace } = await openFolder();
  const { versions, settled } = keepVersions(workspace, memoryStore());
  await settled();

  const skill = await versions.get("count", 1);
  const tool = await versions.get("count/lines", 1);
  expect(skill.files.map(({ path }) => path)).toEqual(["SKILL.md", "scripts/lines.sh"]);
  expect(tool.files.map(({ path }) => path)).toEqual(["scripts/lines.sh"]);
  expect(tool.definition).toMatchObject({ code: { kind: "script", path: "scripts/lines.sh" } });
  expect(String(Buffer.from(await versions.readFile("count", 1, "scripts/lines.sh")))).toBe(script);
});

test("keepVersions() keeps the digest of code that is in a file it does not know", async () => {
  const code = { kind: "wasm", directory: "/", path: "sum.wasm", digest: "sha256:0" };
  const workspace = createWorkspace({ tools: [{ ...greet("1.0.0", "Adds"), code }] });
  const { versions, settled } = keepVersions(workspace, memoryStore());
  await settled();

  expect(await versions.get("greet", 1)).toMatchObject({ files: [], definition: { code: { digest: "sha256:0" } } });
});

test("keepVersions() says when a file is not what it was, and keeps no version of it", async () => {
  const { workspace, directory } = await openFolder();
  writeFileSync(join(directory, "scripts/lines.sh"), `${script}# changed\n`);
  const errors: unknown[] = [];

  const { versions, settled } = keepVersions(workspace, memoryStore(), { onError: (...error) => errors.push(error) });
  await settled();

  expect(await versions.addresses()).toEqual([]);
  expect(errors).toMatchObject([
    [{ code: "script-changed", details: { path: "scripts/lines.sh" } }, "count/lines"],
    [{ code: "script-changed" }, "count"],
  ]);
});

test("keepVersions() says nothing of errors when nobody listens", async () => {
  const { workspace, directory } = await openFolder();
  rmSync(join(directory, "scripts"), { recursive: true });

  const { versions, settled } = keepVersions(workspace, memoryStore());
  await settled();

  expect(await versions.addresses()).toEqual([]);
});

test("keepVersions() goes on when the one who is told of errors throws", async () => {
  const { workspace, directory } = await openFolder();
  rmSync(join(directory, "scripts"), { recursive: true });
  const warnings: Error[] = [];
  const listen = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));

  const onError = (): never => {
    throw new Error("nobody is here");
  };
  const { versions, settled } = keepVersions(workspace, memoryStore(), { onError });
  workspace.add(greet("1.0.0", "Says hello"));
  await settled();
  await new Promise(setImmediate);

  expect(await versions.addresses()).toEqual(["greet"]);
  expect(String(warnings[0])).toContain("nobody is here");
});

test("keepVersions() keeps nothing more once it is stopped", async () => {
  const workspace = createWorkspace();
  const { versions, settled, stop } = keepVersions(workspace, memoryStore());
  stop();
  workspace.add(greet("1.0.0", "Says hello"));
  await settled();

  expect(await versions.addresses()).toEqual([]);
});

const script = '#!/bin/sh\n# Usage: lines.sh FILE\nwc -l "${1:?a file}"\n';

async function openFolder(): Promise<{ workspace: Workspace; directory: string }> {
  const root = mkdtempSync(join(tmpdir(), "kitbag-versions-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, "count");
  mkdirSync(join(directory, "scripts"), { recursive: true });
  writeFileSync(join(directory, "SKILL.md"), "---\nname: count\ndescription: Counts lines\n---\nCount.\n");
  writeFileSync(join(directory, "scripts/lines.sh"), script);
  const { reports } = await loadSkills({ directories: [root] });
  const workspace = createWorkspace({ skills: reports.flatMap((report) => report.skill ?? []) });
  expect(await workspace.activateSkill("count")).toMatchObject({ status: "ok" });
  return { workspace, directory };
}

function greet(version: string, description: string): Tool {
  return defineTool({ name: "greet", description, version, run: () => "hello" });
}
