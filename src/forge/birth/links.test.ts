import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { expectLive, openTestForge } from "../../../test/support/open-test-forge.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { openRuntimes, type Runtimes } from "../../runtimes/open-runtimes.ts";
import type { CodeDraft } from "../drafts/tool-draft.ts";

const policy = { permissions: { write: ["./data"] } };
const opened: Runtimes[] = [];
afterAll(() => Promise.all(opened.map((runtimes) => runtimes.close())));

test("createTool() waits for a person if a link in a folder that is granted leads out of it", async () => {
  const { forge, directory, secret } = await openLinked();
  symlinkSync(secret, join(directory, "data/l"));

  const file = await forge.createTool(readTool("read-file", "./data/l/s.txt"));
  const folder = await forge.createTool(readTool("read-folder", "./data/l"));
  const written = await forge.createTool({
    ...readTool("write", "./data/l"),
    permissions: { write: ["./data/l/new"] },
  });

  expect([file, folder, written]).toMatchObject([
    { status: "waiting", asks: { read: ["./data/l/s.txt"] } },
    { status: "waiting", asks: { read: ["./data/l"] } },
    { status: "waiting", asks: { write: ["./data/l/new"] } },
  ]);
});

test("a tool is refused what it was granted once a link is in its place", async () => {
  const { forge, workspace, directory, secret } = await openLinked();
  const place = join(directory, "data/l");
  mkdirSync(place);
  writeFileSync(join(place, "s.txt"), "mine");
  expectLive(await forge.createTool(readTool("look", "./data/l")));

  const before = await workspace.call("look");
  rmSync(place, { recursive: true });
  symlinkSync(secret, place);
  const after = await workspace.call("look");

  expect(before).toMatchObject({ status: "ok", output: "mine" });
  expect(after).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
});

async function openLinked() {
  const [directory, secret] = [createFolder(), createFolder()];
  mkdirSync(join(directory, "data"));
  writeFileSync(join(secret, "s.txt"), "secret");
  const runtimes = openRuntimes({ directory, home: createFolder() });
  opened.push(runtimes);
  return { ...(await openTestForge(runtimes, { directory, policy })), secret };
}

function readTool(name: string, path: string): CodeDraft {
  return {
    name,
    description: "Reads",
    language: "bash",
    code: "cat > /dev/null; cat data/l/s.txt",
    permissions: { read: [path] },
    examples: [{ input: {} }],
  };
}
