import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, expect, test } from "vitest";

import {
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
  type TestForge,
} from "../../../test/support/open-test-forge.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("updateTool() leaves the old or the new version, never half of one, when its process is killed", async () => {
  const first = await openTestForge(runtimes, { watch: false });
  await first.forge.createTool({ ...sayTool("say", "start"), files: { "text.txt": "start" } });
  const { directory, home } = first;

  for (let round = 0; round < 6; round++) {
    const editor = startEditor(first, 100);
    await firstLine(editor);
    await new Promise((done) => {
      setTimeout(done, 20 + round * 37);
    });
    editor.kill("SIGKILL");
    await new Promise((done) => editor.once("exit", done));

    const { forge, workspace } = await openTestForge(runtimes, { directory, home, watch: false });
    const [listed] = forge.listTools();
    const said = String(await outputOf(workspace, "say")).trim();
    const draft = await forge.readDraft("say");
    expect(listed).toMatchObject({ status: "live" });
    expect(draft).toMatchObject({ files: { "text.txt": said }, examples: [{ output: said }] });
    for (const { version } of await forge.listVersions("say")) {
      const kept = await forge.readDraft("say", version);
      expect(String(await outputOf(workspace, `say@${version}`)).trim()).toBe(kept.examples[0]?.output);
    }
    const next = await forge.updateTool("say", { title: `Round ${round}` });
    expect(next.status).toBe("live");
    const top = readFileSync(join(directory, ".kitbag/tools/say/text.txt"), "utf8");
    expect(top).toBe(said);
  }
}, 180_000);

test("openForge() runs what the manifest says when the process died before the files beside it were written", async () => {
  const first = await openTestForge(runtimes, { watch: false });
  const { directory, home } = first;
  const folder = join(directory, ".kitbag/tools/say");
  await first.forge.createTool({ ...sayTool("say", "A"), files: { "text.txt": "A" } });
  const { code, examples } = sayTool("say", "B");
  await first.forge.updateTool("say", { code, examples, files: { "other.txt": "B" } });
  const history = readFileSync(join(folder, "history.jsonl"), "utf8").split("\n");
  cpSync(join(folder, "versions/1.0.0/main.sh"), join(folder, "main.sh"));
  cpSync(join(folder, "versions/1.0.0/text.txt"), join(folder, "text.txt"));
  rmSync(join(folder, "other.txt"));
  writeFileSync(join(folder, "history.jsonl"), `${history[0]}\n`);

  const { forge, workspace } = await openTestForge(runtimes, { directory, home, watch: false });

  expect(forge.listTools()).toMatchObject([{ status: "live", version: "1.0.1" }]);
  expect(String(await outputOf(workspace, "say")).trim()).toBe("B");
  expect((await forge.listVersions("say")).map(({ version }) => version)).toEqual(["1.0.0", "1.0.1"]);
  expect(await forge.updateTool("say", { title: "Say" })).toMatchObject({ status: "live", version: "1.0.2" });
  expect(existsSync(join(folder, "text.txt"))).toBe(false);
  expect(readFileSync(join(folder, "other.txt"), "utf8")).toBe("B");
});

test("openForge() runs the old version when the process died before the manifest was written", async () => {
  const first = await openTestForge(runtimes, { watch: false });
  const { directory, home } = first;
  const folder = join(directory, ".kitbag/tools/say");
  await first.forge.createTool(sayTool("say", "A"));
  cpSync(folder, join(directory, "before"), { recursive: true });
  const { code, examples } = sayTool("say", "B");
  await first.forge.updateTool("say", { code, examples });
  for (const file of ["manifest.json", "main.sh", "history.jsonl"])
    cpSync(join(directory, "before", file), join(folder, file));

  const { forge, workspace } = await openTestForge(runtimes, { directory, home, watch: false });

  expect(forge.listTools()).toMatchObject([{ status: "live", version: "1.0.0" }]);
  expect(String(await outputOf(workspace, "say")).trim()).toBe("A");
  expect(await outputOf(workspace, "say@1.0.1")).toBe("version-not-found");
  expect(await forge.updateTool("say", { title: "Say" })).toMatchObject({ status: "live", version: "1.0.2" });
});

test("updateTool() of two processes at once loses no version, and gives no number twice", async () => {
  const { directory, home, ...first } = await openTestForge(runtimes, { watch: false });
  await first.forge.createTool({ ...sayTool("say", "start"), files: { "text.txt": "start" } });

  const editors = [startEditor({ directory, home }, 5), startEditor({ directory, home }, 5)];
  const printed = await Promise.all(editors.map(({ stdout }) => text(stdout as NonNullable<typeof stdout>)));

  const edits = printed.flatMap((lines) => lines.trim().split("\n")).map((line) => line.split(" "));
  const { forge, workspace } = await openTestForge(runtimes, { directory, home, watch: false });
  const versions = await forge.listVersions("say");
  expect(edits).toHaveLength(10);
  expect(new Set(edits.map(([version]) => version)).size).toBe(10);
  expect(versions).toHaveLength(11);
  for (const [version = "", said] of edits) {
    expect(String(await outputOf(workspace, `say@${version}`)).trim()).toBe(said);
  }
  expect((await forge.history("say")).map(({ type }) => type)).toEqual(["create", ...edits.map(() => "update")]);
}, 180_000);

function startEditor({ directory, home }: Pick<TestForge, "directory" | "home">, count: number): ChildProcess {
  const program = resolve(import.meta.dirname, "../../../test/crash/programs/edit-forged-tool.ts");
  const argv = ["--conditions=@kitbag/source", program, directory, home, "say", String(count)];
  return spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
}

async function firstLine({ stdout }: ChildProcess): Promise<void> {
  await new Promise((done) => stdout?.once("data", done));
}
