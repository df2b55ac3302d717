import { expect, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { runAsUser } from "../../test/support/run-as-user.ts";
import { examineSandboxes, type SandboxExamination } from "./examine-sandboxes.ts";

test("examineSandboxes() tests all sandboxes at once, and each finds what it is held to", async (context) => {
  needProgram(context, "unshare");

  const { used, sandboxes } = await examineSandboxes();

  expect(used).toBeDefined();
  expect(sandboxes.filter(({ status }) => status === "broken")).toEqual([]);
});

test("examineSandboxes() tells an ordinary user what there is", { timeout: 60_000 }, async (context) => {
  needProgram(context, "unshare");
  context.skip(process.getuid?.() !== 0, "only root can become somebody else");

  const { used, sandboxes } = JSON.parse(await runAsUser("test/support/examine-as-user.ts", [])) as SandboxExamination;

  expect(used).toBeDefined();
  expect(sandboxes.find(({ name }) => name === "unshare")).toMatchObject({ status: "works" });
});
