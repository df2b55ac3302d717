import { expect, onTestFinished, test } from "vitest";

import { defineSkill, type SkillDefinition } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill, SkillTrust } from "../../core/skill.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceChange } from "../registry/registered-tool.ts";

test("W1: a skill's tools exist only while it is open", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });

  const before = await workspace.call("pdf/extract");
  await workspace.activateSkill("pdf");
  const during = await workspace.call("pdf/extract");
  await workspace.deactivateSkill("pdf");
  const after = await workspace.call("pdf/extract");

  expect(before).toMatchObject({ status: "failed", error: { code: "tool-unavailable" } });
  expect(during).toMatchObject({ status: "ok", output: "pdf/extract" });
  expect(after).toMatchObject({ status: "failed", error: { code: "tool-unavailable" } });
  expect(after.status === "failed" && after.error.message).toContain('open skill "pdf" first');
});

test("W3: component and global tools stay available whatever is open, and a skill without tools can be opened", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("clock")],
    components: [{ name: "files", tools: [toolNamed("read")] }],
    skills: [defineSkill({ name: "poems", description: "Writes poems", workDirection: "Rhyme." })],
  });

  const outcome = await workspace.activateSkill("poems");

  expect(outcome).toEqual({ status: "ok", opened: ["poems"], closed: [], warnings: [] });
  expect(workspace.getAvailableTools().map((entry) => entry.address)).toEqual(["clock", "files/read"]);
  expect(workspace.activeInstructions()).toContain("Rhyme.");
});

test("W4 and W5: queries tell where a tool comes from and which tools there are", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("clock")],
    skills: [skillWith("pdf", "extract"), skillWith("csv", "sum")],
  });
  await workspace.activateSkill("pdf");

  expect(workspace.getToolSource("pdf/extract")).toEqual({ source: "skill", owner: "pdf" });
  expect(workspace.getToolSource("clock")).toEqual({ source: "global", owner: "global" });
  expect(workspace.getActiveSkills()).toEqual(["pdf"]);
  expect(workspace.getActiveSkillToolNames()).toEqual(["pdf/extract"]);
  expect(workspace.getActiveSkillTools().map((entry) => entry.wireName)).toEqual(["pdf__extract"]);
  expect(workspace.isToolFromActiveSkill("pdf/extract")).toBe(true);
  expect(workspace.isToolFromActiveSkill("csv/sum")).toBe(false);
  expect(workspace.isToolFromActiveSkill("clock")).toBe(false);
  expect(workspace.isToolFromActiveSkill("nothing")).toBe(false);
  expect(workspace.getAllSkillToolStates()).toMatchObject([
    { skill: "pdf", active: true, available: ["pdf/extract"] },
    { skill: "csv", active: false, available: [] },
  ]);
});

test("W6: opening a skill tells subscribers once, after everything is consistent", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract", "merge"), skillWith("csv", "sum")] });
  const heard: string[][] = [];
  workspace.onChange(({ added, removed }: WorkspaceChange) => {
    heard.push([...added, ...removed].map((entry) => `${entry.address} ${workspace.isToolAvailable(entry.address)}`));
  });

  await workspace.activateSkill("pdf");
  await workspace.activateSkill("pdf");
  await workspace.deactivateSkill("pdf");
  await workspace.deactivateSkill("pdf");

  expect(heard).toEqual([
    ["pdf/extract true", "pdf/merge true"],
    ["pdf/extract false", "pdf/merge false"],
  ]);
});

test("W7: a failing onActivate leaves the workspace as it was, and undoes what was opened for it", async () => {
  const log: string[] = [];
  const base = defineSkill({
    name: "base",
    description: "Base",
    tools: [toolNamed("one")],
    onActivate: () => void log.push("base on"),
    onDeactivate: () => void log.push("base off"),
  });
  const broken = skillOf({
    name: "broken",
    requires: ["base"],
    tools: [toolNamed("two")],
    onActivate: () => Promise.reject(new Error("no licence")),
  });
  const workspace = createWorkspace({ skills: [base, broken] });
  let changes = 0;
  workspace.onChange(() => (changes += 1));

  const outcome = await workspace.activateSkill("broken");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-failed" } });
  expect(outcome.status === "failed" && outcome.error.message).toContain("no licence");
  expect(workspace.getActiveSkills()).toEqual([]);
  expect(log).toEqual(["base on", "base off"]);
  expect(changes).toBe(0);
});

test("W7: a failing onDeactivate still removes the tools and is reported", async () => {
  const skill = skillOf({
    name: "sticky",
    tools: [toolNamed("glue")],
    onDeactivate: () => {
      throw new Error("stuck");
    },
  });
  const workspace = createWorkspace({ skills: [skill] });
  await workspace.activateSkill("sticky");

  const outcome = await workspace.deactivateSkill("sticky");

  expect(outcome).toMatchObject({ status: "ok", closed: ["sticky"], warnings: [{ code: "skill-failed" }] });
  expect(workspace.isToolAvailable("sticky/glue")).toBe(false);
});

test("W9: skills that are required are opened first, and closed when nobody needs them any more", async () => {
  const skills = [
    skillWith("base", "one"),
    skillOf({ name: "left", requires: ["base"] }),
    skillOf({ name: "right", requires: ["base"] }),
  ];
  const workspace = createWorkspace({ skills });

  const left = await workspace.activateSkill("left");
  const right = await workspace.activateSkill("right");
  const closedLeft = await workspace.deactivateSkill("left");
  const closedRight = await workspace.deactivateSkill("right");

  expect(left).toMatchObject({ opened: ["base", "left"] });
  expect(right).toMatchObject({ opened: ["right"] });
  expect(closedLeft).toMatchObject({ closed: ["left"] });
  expect(closedRight).toMatchObject({ closed: ["right", "base"] });
});

test("W9: a skill that somebody asked for stays open when the one that required it closes", async () => {
  const workspace = createWorkspace({
    skills: [skillWith("base", "one"), skillOf({ name: "left", requires: ["base"] })],
  });
  await workspace.activateSkill("base");
  await workspace.activateSkill("left");

  const refused = await workspace.deactivateSkill("base");
  await workspace.activateSkill("base");
  await workspace.deactivateSkill("left");

  const message = 'Cannot close the skill "base" yet: "left" requires it; it closes with that skill';
  expect(refused).toMatchObject({ status: "ok", closed: [], warnings: [{ code: "skill-required", message }] });
  expect(workspace.getActiveSkills()).toEqual(["base"]);
});

test("W9: without a name, the one skill that was opened is closed, with what it requires", async () => {
  const workspace = createWorkspace({
    skills: [skillWith("base", "one"), skillOf({ name: "left", requires: ["base"] }), skillWith("other", "two")],
  });
  await workspace.activateSkill("left");

  const closing = await workspace.deactivateSkill();
  const none = await workspace.deactivateSkill();
  await workspace.activateSkill("base");
  await workspace.activateSkill("other");
  const unclear = await workspace.deactivateSkill();

  expect(closing).toMatchObject({ status: "ok", closed: ["left", "base"], warnings: [] });
  expect(none).toMatchObject({ status: "failed", error: { message: "Cannot close a skill: none is open" } });
  const message = "Cannot close a skill without its name: 2 are open (base, other); name one of them";
  expect(unclear).toMatchObject({ status: "failed", error: { code: "skill-name-missing", message } });
});

test("W9: a skill reuses another skill's tool under its own name with some arguments locked", async () => {
  const send = defineTool({
    name: "send",
    description: "Sends a message",
    input: {
      type: "object",
      properties: { to: { type: "string" }, text: { type: "string" } },
      required: ["to", "text"],
    },
    run: ({ to, text }) => `${String(to)}: ${String(text)}`,
  });
  const mail = defineSkill({ name: "mail", description: "Mail", tools: [send] });
  const alerts = defineSkill({
    name: "alerts",
    description: "Alerts",
    reuses: [{ name: "alert", uses: "mail/send", locked: { to: "ops" }, description: "Alerts the operators" }],
  });
  const workspace = createWorkspace({ skills: [mail, alerts] });
  await workspace.activateSkill("alerts");

  const outcome = await workspace.call("alerts/alert", { text: "fire" });
  const forged = await workspace.call("alerts/alert", { text: "fire", to: "me" });

  expect(outcome).toMatchObject({ status: "ok", output: "ops: fire" });
  expect(forged).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
  expect(workspace.getTool("alerts/alert")?.tool.inputSchema["properties"]).not.toHaveProperty("to");
});

test("W10: usage is counted for each skill", async () => {
  const fail = defineTool({ name: "fail", description: "Fails", run: () => Promise.reject(new Error("no")) });
  const workspace = createWorkspace({
    skills: [defineSkill({ name: "pdf", description: "PDF", version: "1.2.0", tools: [toolNamed("extract"), fail] })],
  });
  await workspace.activateSkill("pdf");
  await workspace.call("pdf/extract");
  await workspace.call("pdf/fail");

  const [state] = workspace.getSkills();

  expect(state?.usage).toMatchObject({ activations: 1, calls: 2, failures: 1 });
  expect(state?.usage.lastUsed).toBeGreaterThan(0);
});

test("activateSkill() of an exclusive skill closes the others, and opening another closes it", async () => {
  const skills = [
    skillWith("a", "one"),
    skillOf({ name: "solo", exclusive: true, requires: ["base"] }),
    skillWith("base", "two"),
  ];
  const workspace = createWorkspace({ skills });
  await workspace.activateSkill("a");

  const solo = await workspace.activateSkill("solo");
  const other = await workspace.activateSkill("a");

  expect(solo).toMatchObject({ opened: ["base", "solo"], closed: ["a"] });
  expect(other).toMatchObject({ opened: ["a"], closed: ["solo"] });
});

test("activateSkill() names a skill that is not there, and the one that was probably meant", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });

  const outcome = await workspace.activateSkill("pfd");
  const closing = await workspace.deactivateSkill("__proto__");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "skill-not-found", details: { nearest: ["pdf"] } },
  });
  expect(closing).toMatchObject({ status: "failed", error: { code: "skill-not-found" } });
});

test("activateSkill() refuses a circle of skills that require each other", async () => {
  const workspace = createWorkspace({
    skills: [skillOf({ name: "a", requires: ["b"] }), skillOf({ name: "b", requires: ["a"] })],
  });

  const outcome = await workspace.activateSkill("a");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-broken" } });
  expect(outcome.status === "failed" && outcome.error.message).toContain("a → b → a");
});

test("activateSkill() refuses a folder that nobody trusts, and names what changed, or that its trust was removed", async () => {
  const gone = inFolder("gone", []);
  const trust: SkillTrust = { status: "untrusted", changed: [], removed: true };
  const removed: Skill = { ...gone, ...(gone.folder !== undefined && { folder: { ...gone.folder, trust } }) };
  const workspace = createWorkspace({
    skills: [inFolder("fresh", []), inFolder("edited", ["scripts/run.py"]), removed],
  });

  const fresh = await workspace.activateSkill("fresh");
  const edited = await workspace.activateSkill("edited");

  expect(fresh).toMatchObject({ status: "failed", error: { code: "skill-untrusted" } });
  expect(fresh.status === "failed" && fresh.error.message).toContain("kitbag trust /skills/fresh");
  expect(edited.status === "failed" && edited.error.message).toContain("scripts/run.py");
  expect(await workspace.activateSkill("gone")).toMatchObject({
    error: { message: expect.stringContaining("its trust was removed with kitbag trust --remove") as string },
  });
});

test("P3: a skill whose tools are missing cannot be opened, and says which", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("search")],
    skills: [skillOf({ name: "research", uses: ["serach", "mail/send", "search"] })],
  });

  const outcome = await workspace.activateSkill("research");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-broken" } });
  expect(outcome.status === "failed" && outcome.error.message).toMatchInlineSnapshot(
    `"Cannot open the skill "research": uses[0]: expected the tool serach, found no such tool (did you mean "search"?); uses[1]: expected the tool mail/send, found no such tool"`,
  );
});

test("P2: a skill whose text names a tool that is not there, or one of another skill that it does not use, stays closed", async () => {
  const bank = skillWith("bank", "pay");
  const mentioning = (name: string, mentions: readonly string[], uses: readonly string[] = []): Skill => ({
    ...skillOf({ name, uses, tools: [toolNamed("own")] }),
    mentions,
  });
  const skills = [
    mentioning("right", ["right/own", "react/recommended", "bank/pay"], ["bank/pay"]),
    mentioning("wrong", ["wrong/none", "bank/pay"]),
  ];
  const workspace = createWorkspace({ skills: [bank, ...skills] });

  const right = await workspace.activateSkill("right");
  const wrong = await workspace.activateSkill("wrong");

  expect(right).toMatchObject({ status: "ok", opened: ["bank", "right"] });
  expect(wrong.status === "failed" && wrong.error.message).toMatchInlineSnapshot(
    `"Cannot open the skill "wrong": SKILL.md: expected the tool wrong/none, which it names, found no such tool; SKILL.md: expected bank/pay, which it names, in "uses", found nothing"`,
  );
});

test("P5: a tool of a skill finds its own tools first, then global ones", async () => {
  const shout = defineTool({
    name: "shout",
    description: "Shouts",
    run: async (_input, { call }) => {
      const [generate, clock] = [await call("generate"), await call("clock")];
      return [generate, clock].map((outcome) => (outcome.status === "ok" ? outcome.output : outcome.error.code));
    },
  });
  const plugin = defineSkill({ name: "design", description: "Design", tools: [shout, toolNamed("generate", "own")] });
  const workspace = createWorkspace({
    tools: [toolNamed("generate", "global"), toolNamed("clock", "tick")],
    skills: [plugin],
  });
  await workspace.activateSkill("design");

  expect(await workspace.call("design/shout")).toMatchObject({ output: ["own", "tick"] });
  expect(await workspace.call("generate")).toMatchObject({ output: "global" });
});

test("P5: a tool of a skill cannot call a tool of another skill that it does not say it uses", async () => {
  const sneak = defineTool({
    name: "sneak",
    description: "Calls somebody else's tool",
    run: async (_input, { call }) => {
      const outcome = await call("bank/pay");
      return outcome.status === "ok" ? outcome.output : outcome.error.code;
    },
  });
  const thief = { name: "thief", description: "Thief", tools: [sneak] };
  const bank = skillWith("bank", "pay");
  const undeclared = createWorkspace({ skills: [bank, defineSkill(thief)] });
  const declared = createWorkspace({ skills: [bank, defineSkill({ ...thief, uses: ["bank/pay"] })] });
  await undeclared.activateSkill("bank");
  await undeclared.activateSkill("thief");
  await declared.activateSkill("thief");

  expect(await undeclared.call("thief/sneak")).toMatchObject({ output: "tool-undeclared" });
  expect(await declared.call("thief/sneak")).toMatchObject({ output: "bank/pay" });
});

test("P6: twenty plugins with a tool called generate never confuse anybody", async () => {
  const plugins = Array.from({ length: 20 }, (_, index) => skillWith(`plugin-${index}`, "generate"));
  const workspace = createWorkspace({ skills: plugins });
  for (const plugin of plugins) await workspace.activateSkill(plugin.name);

  const outcomes = await Promise.all(plugins.map((plugin) => workspace.call(`plugin:${plugin.name}/generate`)));
  const byWireName = await workspace.call("plugin-7__generate");
  const bare = await workspace.call("generate");

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual(
    plugins.map((plugin) => `${plugin.name}/generate`),
  );
  expect(byWireName).toMatchObject({ output: "plugin-7/generate" });
  expect(bare).toMatchObject({ status: "failed", error: { code: "tool-ambiguous" } });
  expect(new Set(workspace.getAvailableTools().map((entry) => entry.wireName)).size).toBe(20);
});

test("P7: a version outside the range that a skill was made for keeps it closed", async () => {
  const users = ["^1.2", "^2", "nonsense"].map((range, index) =>
    skillOf({ name: `user-${index}`, uses: [`mail/send@${range}`] }),
  );
  const workspace = createWorkspace({
    skills: [skillOf({ name: "mail", version: "1.4.0", tools: [toolNamed("send")] }), ...users],
  });

  const outcomes = await Promise.all(users.map((user) => workspace.activateSkill(user.name)));

  expect(outcomes.map((outcome) => outcome.status)).toEqual(["ok", "failed", "failed"]);
  expect(outcomes[1]?.status === "failed" && outcomes[1].error.message).toContain("version 1.4.0");
  expect(outcomes[2]?.status === "failed" && outcomes[2].error.message).toContain("a range of versions");
});

test("P7: a changed signature without a new major version is reported, and the skill is not run", async () => {
  const { toolSignature } = await import("../../skills/trust/tool-signature.ts");
  const before = toolNamed("send");
  const changed = defineTool({
    name: "send",
    description: "Sends",
    input: { properties: { to: { type: "string" } } },
    run: () => "sent",
  });
  const user: Skill = {
    ...skillOf({ name: "user" }),
    uses: [{ address: "mail/send", range: "^1", signature: toolSignature(before) }],
  };
  const workspace = createWorkspace({ skills: [skillOf({ name: "mail", version: "1.0.0", tools: [before] }), user] });

  const first = await workspace.activateSkill("user");
  await workspace.deactivateSkill("user");
  workspace.replaceSkill(skillOf({ name: "mail", version: "1.1.0", tools: [changed] }));
  const second = await workspace.activateSkill("user");

  expect(first).toMatchObject({ status: "ok" });
  expect(second).toMatchObject({ status: "failed", error: { code: "skill-broken" } });
  expect(second.status === "failed" && second.error.message).toContain("changed without a new major version");
});

test("deactivateSkill() lets running calls finish, and starts nothing new", async () => {
  const { tool, finish } = heldTool("slow");
  const workspace = createWorkspace({ skills: [skillOf({ name: "pdf", tools: [tool], onDeactivate: () => {} })] });
  await workspace.activateSkill("pdf");
  const running = workspace.call("pdf/slow");
  await Promise.resolve();

  const closing = workspace.deactivateSkill("pdf");
  await new Promise((resolve) => setTimeout(resolve, 5));
  const refused = await workspace.call("pdf/slow");
  finish("done");

  expect(refused).toMatchObject({ status: "failed", error: { code: "tool-unavailable" } });
  expect(await running).toMatchObject({ status: "ok", output: "done" });
  expect(await closing).toMatchObject({ status: "ok", closed: ["pdf"] });
});

test("deactivateSkill() cancels running calls if that is wanted", async () => {
  const { tool } = heldTool("slow");
  const workspace = createWorkspace({ skills: [skillOf({ name: "pdf", tools: [tool] })] });
  await workspace.activateSkill("pdf");
  const running = workspace.call("pdf/slow");
  await new Promise((resolve) => setTimeout(resolve, 5));

  await workspace.deactivateSkill("pdf", { running: "cancel" });

  expect(await running).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
});

test("activateSkill() stops waiting for onActivate when the caller does", async () => {
  const never = skillOf({ name: "never", tools: [toolNamed("x")], onActivate: () => new Promise(() => {}) });
  const workspace = createWorkspace({ skills: [never] });
  const controller = new AbortController();

  const opening = workspace.activateSkill("never", { signal: controller.signal });
  controller.abort(new Error("too slow"));

  expect(await opening).toMatchObject({ status: "failed", error: { code: "skill-failed" } });
  expect(workspace.getActiveSkills()).toEqual([]);
});

test("activateSkill() of many skills at once ends in a consistent state", async () => {
  const skills = Array.from({ length: 30 }, (_, index) =>
    skillOf({ name: `s${index}`, tools: [toolNamed("t")], requires: index > 0 ? [`s${index - 1}`] : [] }),
  );
  const workspace = createWorkspace({ skills });

  await Promise.all(
    skills.map((skill, index) =>
      index % 3 === 2 ? workspace.deactivateSkill(skill.name) : workspace.activateSkill(skill.name),
    ),
  );

  const open = new Set(workspace.getActiveSkills());
  for (const name of open)
    for (const required of workspace.getSkill(name)?.requires ?? []) expect(open).toContain(required);
  expect(workspace.getActiveSkillToolNames().toSorted()).toEqual([...open].map((name) => `${name}/t`).toSorted());
});

test.for([
  ["an error without a text", new TypeError(""), "TypeError"],
  ["a text", "just a text", "just a text"],
  ["nothing", undefined, "undefined"],
] as const)("activateSkill() says what onActivate threw: %s", async ([, thrown, reason]) => {
  const { promise, reject } = Promise.withResolvers<void>();
  reject(thrown);
  const fails = skillOf({ name: "fails", onActivate: () => promise });

  const outcome = await createWorkspace({ skills: [fails] }).activateSkill("fails");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-failed", details: { reason } } });
});

test("activateSkill() fails as data, whatever somebody put together by hand", async () => {
  const odd = { ...skillWith("odd", "one"), requires: 7 } as unknown as Skill;
  const workspace = createWorkspace({ skills: [odd] });

  const outcome = await workspace.activateSkill("odd");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-failed", details: { skill: "odd" } } });
  expect(workspace.getActiveSkills()).toEqual([]);
});

test("replaceSkill() swaps the tools of an open skill in one change", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract", "merge")] });
  await workspace.activateSkill("pdf");
  const heard: WorkspaceChange[] = [];
  workspace.onChange((change) => heard.push(change));

  workspace.replaceSkill(skillWith("pdf", "extract", "split"));

  expect(heard).toHaveLength(1);
  expect(heard[0]?.added.map((entry) => entry.address)).toEqual(["pdf/split"]);
  expect(heard[0]?.removed.map((entry) => entry.address)).toEqual(["pdf/merge"]);
  expect(heard[0]?.replaced.map((entry) => entry.address)).toEqual(["pdf/extract"]);
});

test("replaceSkill() keeps the old version if the new one could not be open", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });
  await workspace.activateSkill("pdf");

  expect(() =>
    workspace.replaceSkill(skillOf({ name: "pdf", tools: [toolNamed("new")], uses: ["nothing/here"] })),
  ).toThrow("no such tool");
  expect(() => workspace.replaceSkill(skillWith("other", "x"))).toThrow("Cannot find the skill");

  expect(await workspace.call("pdf/extract")).toMatchObject({ status: "ok" });
  expect(workspace.getTool("pdf/new")).toBeUndefined();
});

test("removeSkill() closes it and what cannot be open without it", async () => {
  const workspace = createWorkspace({
    skills: [skillWith("base", "one"), skillOf({ name: "left", requires: ["base"] })],
  });
  await workspace.activateSkill("left");

  const removed = await workspace.removeSkill("base");
  const again = await workspace.removeSkill("base");

  expect([removed, again]).toEqual([true, false]);
  expect(workspace.getActiveSkills()).toEqual([]);
  expect(workspace.getTool("base/one")).toBeUndefined();
  expect(await workspace.activateSkill("left")).toMatchObject({ status: "failed", error: { code: "skill-not-found" } });
});

test("removeSkill() of several skills is one change, and runs onDeactivate of each, dependents first", async () => {
  const steps: string[] = [];
  const names = ["base", "middle", "top"];
  const skills = names.map((name, index) =>
    skillOf({
      name,
      requires: names.slice(Math.max(0, index - 1), index),
      tools: [toolNamed("one")],
      onDeactivate: () => void steps.push(name),
    }),
  );
  const workspace = createWorkspace({ skills: [...skills, skillWith("other", "one")] });
  await workspace.activateSkill("top");
  await workspace.activateSkill("other");
  const changes: string[][] = [];
  workspace.onChange(({ removed }) => changes.push(removed.map(({ address }) => address)));

  const removed = await workspace.removeSkill(["top", "base", "middle", "base", "unknown"]);

  expect(removed).toBe(true);
  expect(changes).toEqual([["top/one", "middle/one", "base/one"]]);
  expect(steps).toEqual(["top", "middle", "base"]);
  expect(workspace.getSkills().map(({ skill }) => skill.name)).toEqual(["other"]);
  expect(workspace.getActiveSkills()).toEqual(["other"]);
});

test("removeSkill() closes what was open only for it, and keeps what somebody asked for", async () => {
  const workspace = createWorkspace({
    skills: [
      skillWith("quiet", "one"),
      skillWith("wanted", "one"),
      skillOf({ name: "top", requires: ["quiet", "wanted"] }),
    ],
  });
  await workspace.activateSkill("wanted");
  await workspace.activateSkill("top");

  await workspace.removeSkill("top");

  expect(workspace.getActiveSkills()).toEqual(["wanted"]);
});

test("removeSkill() warns of an onDeactivate that fails, and goes on with the others", async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));
  const ended: string[] = [];
  const fails = skillOf({
    name: "fails",
    onDeactivate: () => {
      throw new Error("no reason");
    },
  });
  const ends = skillOf({ name: "ends", onDeactivate: () => void ended.push("ends") });
  const workspace = createWorkspace({ skills: [ends, fails] });
  await workspace.activateSkill("ends");
  await workspace.activateSkill("fails");

  await workspace.removeSkill(["ends", "fails"]);
  await new Promise((resolve) => setImmediate(resolve));

  expect(ended).toEqual(["ends"]);
  expect(warnings).toEqual(['Cannot finish onDeactivate of the skill "fails": no reason']);
  expect(workspace.getSkills()).toEqual([]);
});

test("removeSkill() of nothing changes nothing", async () => {
  const workspace = createWorkspace({ skills: [skillWith("base", "one")] });

  expect(await workspace.removeSkill([])).toBe(false);
  expect(await workspace.removeSkill(["other", "__proto__"])).toBe(false);

  expect(workspace.getSkills()).toHaveLength(1);
});

test("addSkill() adds all of a skill's tools or none", () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });
  const twice: Skill = { ...skillWith("csv", "sum"), tools: [toolNamed("sum"), toolNamed("sum")] };

  expect(() => workspace.addSkill(skillWith("pdf", "other"))).toThrow("already one of this name");
  expect(() => workspace.addSkill(twice)).toThrow("already has a tool of this name");

  expect(workspace.getSkills().map((state) => state.skill.name)).toEqual(["pdf"]);
  expect(workspace.getTool("csv/sum")).toBeUndefined();
});

test("getSkillTools() gives a skill's tools without opening it", () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract", "merge")] });

  expect(workspace.getSkillTools("pdf").map((tool) => tool.name)).toEqual(["extract", "merge"]);
  expect(() => workspace.getSkillTools("pfd")).toThrow('did you mean "pdf"?');
});

test("invokeSkill() gives the text with its tools under the names that a model must use", async () => {
  const skill = skillOf({
    name: "design",
    tools: [toolNamed("generate")],
    workDirection: "Call plugin:design/generate, then plugin:other/tool.",
  });
  const workspace = createWorkspace({ skills: [skill] });

  expect(await workspace.invokeSkill("design")).toBe("Call design__generate, then plugin:other/tool.");
  expect(await workspace.invokeSkill("design", "a cat")).toContain("ARGUMENTS: a cat");
  await expect(workspace.invokeSkill("nothing")).rejects.toThrow("Cannot find the skill");
});

test("invokeSkill() says what is missing before the text of a skill that is not whole", async () => {
  const unusable = skillOf({ name: "report", uses: ["chart/draw"], workDirection: "Draw it." });
  const smaller = { ...skillOf({ name: "pdf", workDirection: "Extract it." }), leftOut: ['Left out "extract": gone'] };
  const workspace = createWorkspace({ skills: [unusable, smaller] });

  expect(await workspace.invokeSkill("report")).toBe(
    "Parts of this skill are missing; it cannot be opened:\n- uses[0]: expected the tool chart/draw, found no such tool\n\nDraw it.",
  );
  expect(await workspace.invokeSkill("pdf")).toBe(
    'Parts of this skill are missing; its other tools work:\n- Left out "extract": gone\n\nExtract it.',
  );
});

test("invokeSkill() puts arguments behind the text of a skill that has no place for them", async () => {
  const workspace = createWorkspace({ skills: [skillOf({ name: "notes", workDirection: "Write it down." })] });

  expect(await workspace.invokeSkill("notes", "milk")).toBe("Write it down.\n\nARGUMENTS: milk");
});

test("invokeSkill() lets a skill put its arguments where they belong", async () => {
  const skill = {
    ...skillOf({ name: "notes" }),
    render: (words: string) => `Write down ${words}, with plugin:notes/pen.`,
  };
  const workspace = createWorkspace({ skills: [skill] });

  expect(await workspace.invokeSkill("notes", "milk")).toBe("Write down milk, with plugin:notes/pen.");
});

test("search() finds tools of closed skills, and says that they are not available", async () => {
  const workspace = createWorkspace({
    tools: [toolNamed("clock")],
    skills: [skillWith("pdf", "extract"), skillWith("csv", "sum")],
  });

  const [first] = workspace.search("extract", { kind: "tool" });
  await workspace.activateSkill("pdf");
  const [second] = workspace.search("extract", { kind: "tool" });
  const skills = workspace.search("csv", { kind: "skill", limit: 1 });

  expect(first).toMatchObject({ kind: "tool", address: "pdf/extract", available: false });
  expect(second).toMatchObject({ address: "pdf/extract", available: true });
  expect(skills.map((item) => item.address)).toEqual(["csv"]);
});

test("onSkillsChange() tells of skills that come, are replaced and go, open or not, until it is ended", async () => {
  const workspace = createWorkspace();
  const heard: string[] = [];
  const end = workspace.onSkillsChange((names) => heard.push(names.join()));
  const plain = (name: string) => defineSkill({ name, description: `About ${name}` });

  workspace.addSkill(plain("pdf"));
  workspace.addSkill(plain("csv"));
  workspace.replaceSkill(plain("pdf"));
  await workspace.removeSkill(["pdf", "csv", "nothing"]);
  await workspace.removeSkill("nothing");
  end();
  workspace.addSkill(plain("pdf"));

  expect(heard).toEqual(["pdf", "csv", "pdf", "pdf,csv"]);
});

function toolNamed(name: string, output = name): ReturnType<typeof defineTool<string>> {
  return defineTool({ name, description: `The tool ${name}`, run: () => output });
}

function skillWith(name: string, ...tools: string[]): Skill {
  return skillOf({ name, tools: tools.map((tool) => toolNamed(tool, `${name}/${tool}`)) });
}

function skillOf(definition: Partial<SkillDefinition> & { name: string }): Skill {
  return defineSkill({ description: `The skill ${definition.name}`, ...definition });
}

function inFolder(name: string, changed: readonly string[]): Skill {
  const trust = { status: "untrusted", changed } as const;
  return {
    ...skillWith(name, "tool"),
    folder: { directory: `/skills/${name}`, files: [], digest: "sha256:0", scope: "project", trust },
  };
}

function heldTool(name: string): { tool: ReturnType<typeof toolNamed>; finish: (output: string) => void } {
  let finish: (output: string) => void = () => {};
  const held = new Promise<string>((resolve) => (finish = resolve));
  return {
    tool: defineTool({ name, description: "Waits", run: () => held }),
    finish: (output) => finish(output),
  };
}

test("addSkill() takes several versions of a defined skill, whose tools can be called by version", async () => {
  const workspace = createWorkspace({ skills: [versioned("1.10.0"), versioned("1.9.0")] });
  workspace.addSkill(versioned("2.0.0"));
  await workspace.activateSkill("my-skill");

  const outputs = await Promise.all(
    ["my-skill/f", "my-skill/f@1.9.0", "my-skill/f@1.10.0", "my-skill/f@2.0.0"].map(async (address) => {
      const outcome = await workspace.call(address);
      return outcome.status === "ok" ? outcome.output : outcome.error.code;
    }),
  );

  expect(outputs).toEqual(["2.0.0", "1.9.0", "1.10.0", "2.0.0"]);
  expect(workspace.getSkill("my-skill")?.version).toBe("2.0.0");
  expect(await workspace.call("my-skill/f@3.0.0")).toMatchObject({ status: "failed" });
});

test("addSkill() refuses a second skill of the same version, and one without a version", () => {
  const workspace = createWorkspace({ skills: [versioned("1.0.0")] });

  expect(() => workspace.addSkill(versioned("1.0.0"))).toThrow('Cannot add the skill "my-skill"');
  expect(() => workspace.addSkill(skillOf({ name: "my-skill" }))).toThrow('Cannot add the skill "my-skill"');
  expect(() => workspace.addSkill({ ...versioned("2.0.0"), folder: folderOf("/x") })).toThrow("Cannot add the skill");
});

test("a tool that an earlier version of its skill lacks, or that has a version of its own, can be called", async () => {
  const own = defineTool({ name: "f", description: "Has a version", version: "1.0.0", run: () => "own" });
  const skills = [
    skillOf({ name: "my-skill", version: "1.0.0", tools: [toolNamed("g")] }),
    skillOf({ name: "my-skill", version: "0.9.0", tools: [toolNamed("f")] }),
    skillOf({ name: "my-skill", version: "2.0.0", tools: [own] }),
  ];
  const workspace = createWorkspace({ skills });
  await workspace.activateSkill("my-skill");

  expect(await workspace.call("my-skill/f")).toMatchObject({ output: "own" });
  expect(await workspace.call("my-skill/f@1.0.0")).toMatchObject({ output: "own" });
  expect(await workspace.call("my-skill/f@0.9.0")).toMatchObject({ status: "ok" });
});

test("invokeSkill() says first what is missing of a skill, ten parts at most", async () => {
  const leftOut = Array.from({ length: 12 }, (_, index) => `Left out the tool "t${index}"`);
  const workspace = createWorkspace({ skills: [{ ...skillOf({ name: "pdf" }), leftOut }] });

  const text = await workspace.invokeSkill("pdf", "", { directory: "skill://kitbag/pdf" });

  expect(text.split("\n").slice(0, 2)).toEqual([
    "Parts of this skill are missing; its other tools work:",
    '- Left out the tool "t0"',
  ]);
  expect(text).toContain("- and 2 more\n");
});

function versioned(version: string): Skill {
  const run = defineTool({ name: "f", description: "Tells its version", run: () => version });
  return skillOf({ name: "my-skill", version, tools: [run] });
}

function folderOf(directory: string): NonNullable<Skill["folder"]> {
  return { directory, files: [], digest: "", scope: "given", trust: { status: "trusted" } };
}
