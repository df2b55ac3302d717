import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import { createWorkspace } from "../create-workspace.ts";

const send = defineTool({ name: "send", description: "Sends", run: () => "sent" });
const versioned = defineTool({ name: "send", description: "Sends", version: "3.0.0", run: () => "sent" });

test("a bare name that several others have is no tool that a skill can use", async () => {
  const others = ["mail", "chat"].map((name) => defineSkill({ name, description: name, tools: [send] }));
  const workspace = createWorkspace({ skills: [...others, using("send")] });

  const outcome = await workspace.activateSkill("user");

  expect(outcome.status === "failed" && outcome.error.message).toContain("found several tools of this name");
});

test("a tool without a version fits no range, and its own version goes before its skill's", async () => {
  const unversioned = createWorkspace({ tools: [send], skills: [using("send@^1")] });
  const own = createWorkspace({
    skills: [
      defineSkill({ name: "mail", description: "Mail", version: "1.0.0", tools: [versioned] }),
      using("mail/send@^3"),
    ],
  });

  const refused = await unversioned.activateSkill("user");

  expect(refused.status === "failed" && refused.error.message).toContain("found a tool without a version");
  expect(await own.activateSkill("user")).toMatchObject({ status: "ok", opened: ["mail", "user"] });
});

test("a signature that does not fit is reported also where nothing has a version", async () => {
  const skill: Skill = { ...using(), uses: [{ address: "send", signature: `sha256:${"0".repeat(64)}` }] };
  const workspace = createWorkspace({ tools: [send], skills: [skill] });

  const outcome = await workspace.activateSkill("user");

  expect(outcome.status === "failed" && outcome.error.message).toContain("another one: its schema changed");
});

test("a skill may name its reused tools in its text", async () => {
  const skill: Skill = {
    ...defineSkill({ name: "user", description: "User", reuses: [{ name: "post", uses: "send" }] }),
    mentions: ["user/post"],
  };
  const workspace = createWorkspace({ tools: [send], skills: [skill] });

  expect(await workspace.activateSkill("user")).toMatchObject({ status: "ok" });
});

test("a skill that requires one which is not there cannot be opened", async () => {
  const workspace = createWorkspace({
    skills: [defineSkill({ name: "user", description: "User", requires: ["base"] })],
  });

  expect(await workspace.activateSkill("user")).toMatchObject({
    status: "failed",
    error: { code: "skill-not-found", details: { skill: "base" } },
  });
});

test("what two skills require is opened once", async () => {
  const skills = [
    defineSkill({ name: "base", description: "Base" }),
    defineSkill({ name: "left", description: "Left", requires: ["base"] }),
    defineSkill({ name: "top", description: "Top", requires: ["base", "left"] }),
  ];
  const workspace = createWorkspace({ skills });

  expect(await workspace.activateSkill("top")).toMatchObject({ opened: ["base", "left", "top"] });
});

function using(...uses: string[]): Skill {
  return defineSkill({ name: "user", description: "User", uses });
}
