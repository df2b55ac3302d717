import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test, type TestContext } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { examineSandboxes, type SandboxExamination } from "./examine-sandboxes.ts";

const user = 61_235;

test("examineSandboxes() tests all sandboxes at once, and each finds what it is held to", async (context) => {
  needProgram(context, "unshare");

  const { used, sandboxes } = await examineSandboxes();

  expect(used).toBeDefined();
  expect(sandboxes.filter(({ status }) => status === "broken")).toEqual([]);
});

test("examineSandboxes() tells an ordinary user what there is", { timeout: 60_000 }, async (context: TestContext) => {
  needProgram(context, "unshare");
  context.skip(process.getuid?.() !== 0, "only root can become somebody else");

  const { used, sandboxes } = await examineAs(user);

  expect(used).toBeDefined();
  expect(sandboxes.find(({ name }) => name === "unshare")).toMatchObject({ status: "works" });
});

async function examineAs(uid: number): Promise<SandboxExamination> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-examine-")));
  onTestFinished(() => rmSync(own, { recursive: true, force: true }));
  chownSync(own, uid, uid);
  chmodSync(own, 0o755);
  const module = join(import.meta.dirname, "examine-sandboxes.ts");
  const program = `
    const { examineSandboxes } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await examineSandboxes()));`;
  const env = { PATH: "/usr/bin:/bin", HOME: own, TMPDIR: own };
  const child = spawn(process.execPath, ["--conditions=@kitbag/source", "--input-type=module", "-e", program], {
    ...{ uid, gid: uid, cwd: own, env },
  });
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === "") throw new Error(complaint);
  return JSON.parse(output) as SandboxExamination;
}
