import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("a reused tool fails with what the tool behind it says", async () => {
  const broken = defineTool({ name: "send", description: "Sends", run: () => Promise.reject(new Error("no network")) });
  const workspace = createWorkspace({
    skills: [
      defineSkill({ name: "mail", description: "Mail", tools: [broken] }),
      defineSkill({ name: "alerts", description: "Alerts", reuses: [{ name: "alert", uses: "mail/send" }] }),
    ],
  });
  await workspace.activateSkill("alerts");

  const outcome = await workspace.call("alerts/alert");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "step-failed", details: { code: "tool-failed" } } });
  expect(outcome.status === "failed" && outcome.error.message).toContain("no network");
});

test("a reused tool keeps the version, the output schema, the annotations and the permissions of the tool behind it", async () => {
  const read = defineTool({
    name: "read",
    description: "Reads",
    version: "2.1.0",
    output: { type: "string" },
    annotations: { readOnly: true },
    permissions: { read: ["."] },
    run: () => "text",
  });
  const reader = defineSkill({ name: "reader", description: "Reads", reuses: [{ name: "look", uses: "read" }] });
  const workspace = createWorkspace({ tools: [read], skills: [reader] });
  await workspace.activateSkill("reader");

  expect(workspace.getTool("reader/look")?.tool).toMatchObject({
    description: "Reads",
    version: "2.1.0",
    outputSchema: { type: "string" },
    annotations: { readOnly: true },
    permissions: { read: ["."] },
  });
});

test("a reused tool is gone when its skill closes, and there again when it opens", async () => {
  const clock = defineTool({ name: "clock", description: "Tells the time", run: () => "noon" });
  const skill = defineSkill({ name: "time", description: "Time", reuses: [{ name: "now", uses: "clock" }] });
  const workspace = createWorkspace({ tools: [clock], skills: [skill] });

  await workspace.activateSkill("time");
  await workspace.deactivateSkill("time");
  const closed = workspace.getTool("time/now");
  await workspace.activateSkill("time");

  expect(closed).toBeUndefined();
  expect(await workspace.call("time/now")).toMatchObject({ output: "noon" });
});

test("a tool that is not there cannot be reused, also if the skill does not say that it uses it", async () => {
  const skill = defineSkill({ name: "time", description: "Time", reuses: [{ name: "now", uses: "clock" }] });
  const workspace = createWorkspace({ skills: [{ ...skill, uses: [] }] });

  const outcome = await workspace.activateSkill("time");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-not-found", details: { tool: "clock" } } });
  expect(workspace.getActiveSkills()).toEqual([]);
});

test("a tool that takes anything is reused with some of it locked", async () => {
  const code = { kind: "function", run: (input: unknown) => input };
  const echo = {
    ...defineTool({ name: "echo", description: "Echo", run: () => 1 }),
    inputSchema: { type: "object" },
    code,
  };
  const skill = defineSkill({
    name: "loud",
    description: "Loud",
    reuses: [{ name: "say", uses: "echo", locked: { volume: 11 } }],
  });
  const workspace = createWorkspace({ tools: [echo], skills: [skill] });
  await workspace.activateSkill("loud");

  expect(await workspace.call("loud/say", { volume: 1 })).toMatchObject({ status: "failed" });
  expect(await workspace.call("loud/say", {})).toMatchObject({ status: "ok", output: { volume: 11 } });
});
