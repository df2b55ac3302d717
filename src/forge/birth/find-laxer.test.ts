import { afterAll, expect, test } from "vitest";

import {
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  sayTool,
} from "../../../test/support/open-test-forge.ts";
import type { CodeDraft } from "../drafts/tool-draft.ts";
import { createForgeTools } from "../tools/create-forge-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const wipe: CodeDraft = { ...sayTool("wipe", "done"), annotations: { destructive: true }, needsApproval: true };

test("updateTool() waits for a person if the tool is no longer to count as destructive, or to be approved", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(wipe);

  const laxer = await forge.updateTool("wipe", { annotations: null });
  const both = await forge.updateTool("wipe", { annotations: { destructive: false }, needsApproval: null });
  const before = workspace.getTool("wipe")?.tool;
  const approved = await forge.approve(both.status === "waiting" ? both.id : "");

  expect(laxer).toMatchObject({ status: "waiting", asks: {}, laxer: ["not to count as destructive"], from: "1.0.0" });
  expect(both).toMatchObject({ laxer: ["calls without an approval", "not to count as destructive"] });
  expect(before).toMatchObject({ version: "1.0.0", needsApproval: true });
  expect(expectLive(approved).version).toBe("1.0.1");
  expect(workspace.getTool("wipe")?.tool).toMatchObject({ needsApproval: false, annotations: { destructive: false } });
});

test("updateTool() waits for a person if a tool that may change something is to count as read-only", async () => {
  const policy = { permissions: { network: ["api.example.com"] } };
  const { forge } = await openTestForge(runtimes, { policy });
  await forge.createTool(sayTool("pure", "a"));
  await forge.createTool({ ...sayTool("send", "a"), permissions: { network: ["api.example.com"] } });
  const readOnly = { annotations: { readOnly: true } };

  const pure = await forge.updateTool("pure", readOnly);
  const send = await forge.updateTool("send", readOnly);

  // What may touch nothing changes nothing, whatever it says.
  expect(pure.status).toBe("live");
  expect(send).toMatchObject({ status: "waiting", laxer: ["to count as read-only"] });
});

test("updateTool() makes a tool stricter at once, and leaves it to who is asked whether it becomes laxer", async () => {
  const asked: unknown[] = [];
  const { forge } = await openTestForge(runtimes, {
    approve({ laxer }) {
      asked.push(laxer);
      return asked.length > 1;
    },
  });
  await forge.createTool(sayTool("wipe", "done"));

  const stricter = await forge.updateTool("wipe", { annotations: { destructive: true } });
  const denied = await forge.updateTool("wipe", { annotations: null });
  const agreed = await forge.updateTool("wipe", { annotations: null });

  expect([stricter, denied, agreed].map(({ status }) => status)).toEqual(["live", "refused", "live"]);
  expect(asked).toEqual([["not to count as destructive"], ["not to count as destructive"]]);
});

test("rollbackTool() brings a version that is laxer back only if a person has agreed", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(sayTool("wipe", "done"));
  await forge.updateTool("wipe", { annotations: { destructive: true } });

  const refused = expectRefused(await forge.rollbackTool("wipe", "1.0.0"));
  const back = await forge.rollbackTool("wipe", "1.0.0", { isAgreed: true });

  expect(refused.error.message).toContain("not to count as destructive");
  expect(refused.error.message).toContain("kitbag rollback wipe 1.0.0");
  expect(expectLive(back).version).toBe("1.0.0");
});

test("createSkill() and rollbackSkill() leave it to a person whether a tool of the skill becomes laxer", async () => {
  const { forge } = await openTestForge(runtimes);
  const skill = (tool: CodeDraft) => ({ name: "clean", description: "Cleans", instructions: "Clean.", tools: [tool] });
  await forge.createSkill(skill(sayTool("wipe", "done")));
  await forge.createSkill(skill(wipe), { replace: true });

  const laxer = await forge.createSkill(skill({ ...wipe, needsApproval: false }), { replace: true });
  const refused = expectRefused(await forge.rollbackSkill("clean", "1.0.0"));
  const back = await forge.rollbackSkill("clean", "1.0.0", { isAgreed: true });

  expect(laxer).toMatchObject({ status: "waiting", laxer: ["wipe: calls without an approval"] });
  expect(refused.error.message).toContain("kitbag rollback clean 1.0.0");
  expect(back).toMatchObject({ status: "live", version: "1.0.0" });
});

test("update_tool says that a person must agree, and to what", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  for (const tool of createForgeTools(forge)) workspace.add(tool);
  await forge.createTool(wipe);

  const outcome = await workspace.call("update_tool", { name: "wipe", changes: { needsApproval: null } });

  expect(outcome).toMatchObject({
    status: "ok",
    output: {
      status: "waiting",
      laxer: ["calls without an approval"],
      next: expect.stringContaining("a person must agree to this first"),
    },
  });
});

test("updateTool() waits for a person if a tool that counts as read-only may change something from now on", async () => {
  const policy = { permissions: { network: ["a.example", "b.example"] } };
  const { forge } = await openTestForge(runtimes, { policy });
  await forge.createTool({ ...sayTool("send", "a"), permissions: { network: ["a.example"] } });

  const pure = await forge.updateTool("send", { permissions: null, annotations: { readOnly: true } });
  const again = await forge.updateTool("send", { permissions: { network: ["a.example"] } });
  const approved = await forge.approve(again.status === "waiting" ? again.id : "");
  const same = await forge.updateTool("send", { description: "Says it" });
  const more = await forge.updateTool("send", { permissions: { network: ["a.example", "b.example"] } });

  expect([pure, approved, same].map(({ status }) => status)).toEqual(["live", "live", "live"]);
  expect(again).toMatchObject({ status: "waiting", asks: {}, laxer: ["to count as read-only"] });
  expect(more).toMatchObject({ status: "waiting", laxer: ["to count as read-only"] });
});

test("createSkill() holds a tool that comes back to the last version of the skill that had it", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const skill = (...tools: CodeDraft[]) => ({ name: "clean", description: "Cleans", instructions: "Clean.", tools });
  const other = sayTool("other", "o");
  await forge.createSkill(skill(sayTool("wipe", "done"), other));
  await forge.createSkill(skill(wipe, other), { replace: true });
  await forge.createSkill(skill(other), { replace: true });

  const laxer = await forge.createSkill(skill({ ...wipe, needsApproval: false }, other), { replace: true });
  const back = expectRefused(await forge.rollbackSkill("clean", "1.0.0"));
  const strict = await forge.createSkill(skill(wipe), { replace: true });
  await workspace.activateSkill("clean");
  const earlier = await workspace.call("clean/wipe@1.0.0");

  expect(laxer).toMatchObject({ status: "waiting", laxer: ["wipe: calls without an approval"] });
  expect(back.error.message).toContain("wipe: not to count as destructive");
  expect(strict.status).toBe("live");
  expect(earlier).toMatchObject({ status: "failed", error: { code: "approval-missing" } });
});

test("createSkill() and rollbackSkill() hold a skill that was deleted to what it was", async () => {
  const { forge } = await openTestForge(runtimes);
  const skill = (tool: CodeDraft) => ({ name: "clean", description: "Cleans", instructions: "Clean.", tools: [tool] });
  await forge.createSkill(skill(sayTool("wipe", "done")));
  await forge.createSkill(skill(wipe), { replace: true });
  await forge.deleteSkill("clean");

  const anew = await forge.createSkill(skill(sayTool("wipe", "anew")));
  const back = expectRefused(await forge.rollbackSkill("clean", "1.0.0"));
  const approved = await forge.approve(anew.status === "waiting" ? anew.id : "");

  expect(anew).toMatchObject({
    status: "waiting",
    laxer: ["wipe: calls without an approval", "wipe: not to count as destructive"],
  });
  expect(back.error.message).toContain("wipe: calls without an approval");
  expect(approved.status).toBe("live");
});

test("createTool() and rollbackTool() hold a tool that was deleted to what it was", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(sayTool("wipe", "done"));
  await forge.updateTool("wipe", { annotations: { destructive: true }, needsApproval: true });
  await forge.deleteTool("wipe");

  const back = expectRefused(await forge.rollbackTool("wipe", "1.0.0"));
  const anew = await forge.createTool(sayTool("wipe", "anew"));
  const approved = await forge.approve(anew.status === "waiting" ? anew.id : "");

  expect(back.error.message).toContain("not to count as destructive");
  expect(anew).toMatchObject({
    status: "waiting",
    laxer: ["calls without an approval", "not to count as destructive"],
  });
  expect(expectLive(approved).version).toBe("2.0.1");
});
