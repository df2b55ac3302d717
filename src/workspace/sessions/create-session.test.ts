import { expect, expectTypeOf, onTestFinished, test } from "vitest";

import { defineSkill, type SkillDefinition } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import { codeRuntime } from "../../runtimes/code/code-runtime.ts";
import { createCodeTool } from "../../runtimes/code/create-code-tool.ts";
import { pipeline } from "../../runtimes/pipeline/pipeline.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceChange } from "../registry/registered-tool.ts";
import type { Workspace, Session } from "../workspace.ts";

test("openSession() gives a view of the workspace with the workspace's own signatures", () => {
  type Shared = Exclude<keyof Session, "close">;

  expectTypeOf<Pick<Workspace, Shared>>().toEqualTypeOf<Pick<Session, Shared>>();
  expectTypeOf<Session["close"]>().toEqualTypeOf<() => Promise<void>>();
});

test("a session opens a skill for itself: everywhere else its tools are refused when they are called", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  const opened = await one.activateSkill("pdf");

  expect(opened).toEqual({ status: "ok", opened: ["pdf"], closed: [], warnings: [] });
  expect(codeOf(await one.call("pdf/extract"))).toBe("ok");
  expect(codeOf(await other.call("pdf/extract"))).toBe("tool-unavailable");
  expect(codeOf(await workspace.call("pdf/extract"))).toBe("tool-unavailable");
});

test("a session answers every question about what is open for itself", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "extract")] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  await one.activateSkill("pdf");

  expect(describe(one)).toEqual({
    available: ["clock", "pdf/extract"],
    active: ["pdf"],
    names: ["pdf/extract"],
    states: [["pdf", true]],
    isAvailable: true,
    isFromActive: true,
    found: [true, true],
    instructions: '<skill_content name="pdf">\nUse pdf__extract.\n</skill_content>',
    tools: "## Tools of the open skills\n\n### pdf\n\n- pdf__extract: Does extract\n  {}",
  });
  const closed = {
    available: ["clock"],
    active: [],
    names: [],
    states: [["pdf", false]],
    isAvailable: false,
    isFromActive: false,
    found: [false, false],
    instructions: "",
    tools: "",
  };
  expect(describe(other)).toEqual(closed);
  expect(describe(workspace)).toEqual(closed);
});

test("a session knows the tools and skills of the workspace, open or not", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "extract")] });
  const session = workspace.openSession();

  expect(session.getTool("pdf__extract")).toBe(workspace.getTool("pdf/extract"));
  expect(session.getToolSource("extract")).toEqual({ source: "skill", owner: "pdf" });
  expect(session.getToolSource("nothing")).toBeUndefined();
  expect(session.getSkill("pdf")).toBe(workspace.getSkill("pdf"));
  expect(session.getSkillTools("pdf")).toBe(workspace.getSkillTools("pdf"));
  expect(session.renderCatalog()).toEqual(workspace.renderCatalog());
  expect(await session.invokeSkill("pdf", "a.pdf")).toBe(await workspace.invokeSkill("pdf", "a.pdf"));
});

test("a session begins with what is open in the workspace, and then both go their own way", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract"), skillWith("csv", "sum")] });
  await workspace.activateSkill("pdf");
  const session = workspace.openSession();

  await workspace.activateSkill("csv");
  await workspace.deactivateSkill("pdf");

  expect(session.getActiveSkills()).toEqual(["pdf"]);
  expect(workspace.getActiveSkills()).toEqual(["csv"]);
  expect(codeOf(await session.call("pdf/extract"))).toBe("ok");
  expect(codeOf(await session.call("csv/sum"))).toBe("tool-unavailable");
});

test("a session closes what it began with for itself only", async () => {
  const workspace = createWorkspace({
    skills: [skillWith("base", "one"), skillOf({ name: "pdf", requires: ["base"], tools: [toolNamed("extract")] })],
  });
  await workspace.activateSkill("pdf");
  const session = workspace.openSession();

  const closed = await session.deactivateSkill("pdf");

  expect(closed).toMatchObject({ status: "ok", closed: ["pdf", "base"] });
  expect(session.getActiveSkills()).toEqual([]);
  expect(workspace.getActiveSkills()).toEqual(["base", "pdf"]);
});

test("a session sees global tools and components that come and go", () => {
  const workspace = createWorkspace();
  const session = workspace.openSession();

  workspace.add(toolNamed("clock"));
  workspace.addComponent({ name: "files", tools: [toolNamed("read")] });
  workspace.remove("clock");

  expect(addresses(session)).toEqual(["files/read"]);
});

test("a bare name means the tool of the skill that is open in the session", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "read"), skillWith("csv", "read")] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");
  await other.activateSkill("csv");

  expect(await one.call("read")).toMatchObject({ output: "read of pdf" });
  expect(await other.call("read")).toMatchObject({ output: "read of csv" });
  expect(codeOf(await workspace.call("read"))).toBe("tool-ambiguous");
  expect(one.getTool("read")?.address).toBe("pdf/read");
});

test("a call inside a call is for the session of the outermost one, through functions, pipelines and programs", async () => {
  const ask = defineTool({ name: "ask", description: "Asks", run: (_input, { call }) => call("pdf/extract") });
  const steps = pipeline({ name: "steps", description: "Steps", steps: [toolNamed("clock", {}), ask] });
  const spec = definePipeline({
    name: "spec",
    description: "A",
    steps: [{ id: "text", tool: "pdf/extract", args: {} }],
  });
  const runtime = codeRuntime();
  onTestFinished(() => runtime.close());
  const workspace = createWorkspace({
    tools: [ask, steps, spec, createCodeTool()],
    runtimes: [runtime],
    skills: [skillWith("pdf", "extract")],
  });
  const session = workspace.openSession();
  await session.activateSkill("pdf");
  const code = 'return await tools["pdf/extract"]({})';

  expect(await session.call("ask")).toMatchObject({ output: { status: "ok" } });
  expect(await session.call("steps")).toMatchObject({ output: { status: "ok" } });
  expect(codeOf(await session.call("spec"))).toBe("ok");
  expect(await session.call("execute_code", { code })).toMatchObject({ output: { result: "extract of pdf" } });
  expect(await workspace.call("ask")).toMatchObject({ output: { error: { code: "tool-unavailable" } } });
  expect(await workspace.call("steps")).toMatchObject({ output: { error: { code: "tool-unavailable" } } });
  expect(codeOf(await workspace.call("spec"))).toBe("step-failed");
  expect(codeOf(await workspace.call("execute_code", { code }))).toBe("code-failed");
});

test("a program finds the tools of the session that it is run in under names that it can write", async () => {
  const runtime = codeRuntime({ tools: ({ availableTools }) => availableTools() });
  onTestFinished(() => runtime.close());
  const workspace = createWorkspace({
    tools: [createCodeTool()],
    runtimes: [runtime],
    skills: [skillWith("pdf-tools", "extract-text")],
  });
  const session = workspace.openSession();
  await session.activateSkill("pdf-tools");
  const code = "return await tools.pdf_tools.extract_text({})";

  expect(await session.call("execute_code", { code })).toMatchObject({
    output: { result: "extract-text of pdf-tools" },
  });
  expect(codeOf(await workspace.call("execute_code", { code }))).toBe("code-failed");
});

test("a tool of a skill may use in a session what the skill says it uses", async () => {
  const report = defineTool({ name: "report", description: "Reports", run: (_input, { call }) => call("pdf/extract") });
  const workspace = createWorkspace({
    skills: [
      skillWith("pdf", "extract"),
      skillOf({ name: "office", tools: [report], uses: ["pdf/extract"] }),
      skillOf({ name: "sly", tools: [report] }),
    ],
  });
  const session = workspace.openSession();
  await session.activateSkill("office");
  await session.activateSkill("sly");

  expect(await session.call("office/report")).toMatchObject({ output: { status: "ok" } });
  expect(await session.call("sly/report")).toMatchObject({ output: { error: { code: "tool-undeclared" } } });
});

test("tools that a skill takes over from others are there while somebody has it open, in a place that does not depend on when", async () => {
  const workspace = createWorkspace({
    skills: [skillWith("pdf", "extract"), ...["one", "two"].map(reusing), skillWith("csv", "sum")],
  });
  const [left, right] = [workspace.openSession(), workspace.openSession()];

  await left.activateSkill("two");
  await right.activateSkill("one");
  await right.activateSkill("two");
  await right.activateSkill("csv");
  const both = addresses(right);
  await left.deactivateSkill("two");
  const afterOne = await right.call("two/take");
  await right.close();

  expect(both).toEqual(["pdf/extract", "one/take", "two/take", "csv/sum"]);
  expect(addresses(left)).toEqual([]);
  expect(afterOne).toMatchObject({ output: "extract of pdf" });
  expect(workspace.getTool("two/take")).toBeUndefined();
});

test("exclusive skills close others in their own session only", async () => {
  const workspace = createWorkspace({
    skills: [skillOf({ name: "focus", exclusive: true }), skillOf({ name: "deep", exclusive: true }), skillWith("pdf")],
  });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await other.activateSkill("pdf");

  const outcomes = await Promise.all([
    one.activateSkill("pdf"),
    one.activateSkill("focus"),
    other.activateSkill("deep"),
    one.activateSkill("deep"),
  ]);

  expect(outcomes).toMatchObject([
    { opened: ["pdf"], closed: [] },
    { opened: ["focus"], closed: ["pdf"] },
    { opened: ["deep"], closed: ["pdf"] },
    { opened: ["deep"], closed: ["focus"] },
  ]);
  expect([one.getActiveSkills(), other.getActiveSkills(), workspace.getActiveSkills()]).toEqual([
    ["deep"],
    ["deep"],
    [],
  ]);
});

test("a session cannot open what the workspace could not open", async () => {
  const folder = { directory: "/skills/alien", files: [], digest: "sha256:0", scope: "project" } as const;
  const trust = { status: "untrusted", changed: [] } as const;
  const alien: Skill = { ...skillOf({ name: "alien" }), folder: { ...folder, trust } };
  const workspace = createWorkspace({ skills: [alien, skillOf({ name: "broken", uses: ["no/tool"] })] });
  const session = workspace.openSession();

  expect(codeOf(await session.activateSkill("alien"))).toBe("skill-untrusted");
  expect(codeOf(await session.activateSkill("broken"))).toBe("skill-broken");
  expect(codeOf(await session.activateSkill("alein"))).toBe("skill-not-found");
  expect(codeOf(await session.deactivateSkill("alein"))).toBe("skill-not-found");
});

test("closing a skill with running: cancel stops the calls of its own session only", async () => {
  const stopped: string[] = [];
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    input: { type: "object", properties: { who: { type: "string" } } },
    run: ({ who }, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => void stopped.push(String(who)));
        if (who === "other") setTimeout(() => resolve("done"), 30);
      }),
  });
  const workspace = createWorkspace({ skills: [skillOf({ name: "slow", tools: [wait] })] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await Promise.all([one.activateSkill("slow"), other.activateSkill("slow")]);
  const calls = [one.call("slow/wait", { who: "one" }), other.call("slow/wait", { who: "other" })];
  await new Promise(setImmediate);

  await one.deactivateSkill("slow", { running: "cancel" });

  expect((await Promise.all(calls)).map(codeOf)).toEqual(["call-cancelled", "ok"]);
  expect(stopped).toEqual(["one"]);
});

test("onChange() of a session tells what changed for it, and nothing of what others do", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract"), ...["one"].map(reusing)] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  const heard: Record<string, unknown>[] = [];
  for (const [who, holder] of Object.entries({ workspace, one, other })) {
    holder.onChange((change) => heard.push({ who, ...toAddresses(change) }));
  }

  await one.activateSkill("one");
  workspace.add(toolNamed("clock"));
  workspace.replaceSkill(skillWith("pdf", "extract"));
  await one.deactivateSkill("one");

  const nothing = { added: [], removed: [], replaced: [] };
  expect(heard).toEqual([
    { ...nothing, who: "one", added: ["pdf/extract", "one/take"] },
    ...["workspace", "one", "other"].map((who) => ({ ...nothing, who, added: ["clock"] })),
    { ...nothing, who: "one", replaced: ["pdf/extract"] },
    { ...nothing, who: "one", removed: ["one/take", "pdf/extract"] },
  ]);
});

test("all hear of changes in the same order, also of one that a listener makes", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")] });
  const session = workspace.openSession();
  const heard: string[] = [];
  session.onChange(({ added }) => void heard.push(`session ${added[0]?.address}`));
  workspace.onChange(({ added }) => {
    heard.push(`workspace ${added[0]?.address} ${session.isToolAvailable("late")}`);
    if (added[0]?.address === "late") workspace.add(toolNamed("later"));
  });

  workspace.add(toolNamed("late"));

  expect(heard).toEqual(["workspace late true", "session late", "workspace later true", "session later"]);
});

test("removeSkill() closes a skill in all sessions, with what needs it", async () => {
  const log: string[] = [];
  const workspace = createWorkspace({
    skills: [
      skillOf({ name: "base", tools: [toolNamed("one")], onDeactivate: () => void log.push("base off") }),
      skillOf({ name: "top", requires: ["base"], onDeactivate: () => void log.push("top off") }),
    ],
  });
  const sessions = [workspace.openSession(), workspace.openSession()];
  for (const session of sessions) await session.activateSkill("top");

  const removed = await workspace.removeSkill("base");

  expect(removed).toBe(true);
  expect(sessions.map((session) => session.getActiveSkills())).toEqual([[], []]);
  expect(sessions.map((session) => session.getAvailableTools())).toEqual([[], []]);
  expect(log).toEqual(["top off", "base off"]);
});

test("replaceSkill() keeps a skill open in all sessions, with the new tools", async () => {
  const log: string[] = [];
  const version = (number: number): Skill =>
    skillOf({
      name: "pdf",
      tools: [toolNamed("extract", number)],
      onActivate: () => void log.push(`on ${number}`),
      onDeactivate: () => void log.push(`off ${number}`),
    });
  const workspace = createWorkspace({ skills: [version(1)] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");
  await other.activateSkill("pdf");

  workspace.replaceSkill(version(2));
  const outputs = [await one.call("pdf/extract"), await other.call("pdf/extract")];
  await one.close();
  await other.close();

  expect(outputs).toMatchObject([{ output: 2 }, { output: 2 }]);
  expect(log).toEqual(["on 1", "off 2"]);
});

test("replaceSkill() refuses a version that could not be open in a session that has the skill open", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract")] });
  const session = workspace.openSession();
  await session.activateSkill("pdf");
  const before = session.getAvailableTools();

  expect(() => workspace.replaceSkill(skillOf({ name: "pdf", uses: ["no/tool"] }))).toThrow("no/tool");

  expect(session.getAvailableTools()).toBe(before);
});

test("a skill whose new version requires what is not there can still be closed", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "extract"), skillWith("csv", "sum")] });
  const session = workspace.openSession();
  await session.activateSkill("pdf");
  await session.activateSkill("csv");
  workspace.replaceSkill(skillOf({ name: "pdf", requires: ["nothing"] }));

  const closed = await session.deactivateSkill("csv");
  await workspace.removeSkill("pdf");

  expect(closed).toMatchObject({ status: "ok", closed: ["csv"] });
  expect(session.getActiveSkills()).toEqual([]);
});

test("close() takes everything away at once, tells so once, and says so to every call", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "extract")] });
  const session = workspace.openSession();
  await session.activateSkill("pdf");
  const heard: WorkspaceChange[] = [];
  session.onChange((change) => heard.push(change));

  const closing = session.close();
  const tools = session.getAvailableTools();
  await closing;

  expect(tools).toEqual([]);
  expect(heard.map(toAddresses)).toEqual([{ added: [], removed: ["clock", "pdf/extract"], replaced: [] }]);
  expect(session.isToolAvailable("clock")).toBe(false);
  expect(session.getActiveSkills()).toEqual([]);
  for (const tool of ["clock", "pdf/extract", "nothing", "", toolNamed("clock")]) {
    expect(codeOf(await session.call(tool as string, { odd: Number.NaN }))).toBe("session-closed");
  }
  expect(codeOf(await session.activateSkill("pdf"))).toBe("session-closed");
  expect(codeOf(await session.deactivateSkill("pdf"))).toBe("session-closed");
  expect(codeOf(await workspace.call("clock"))).toBe("ok");
});

test("close() closes what only this session has open, once, however often it is called", async () => {
  const log: string[] = [];
  const workspace = createWorkspace({ skills: [logged("pdf", log), logged("csv", log)] });
  await workspace.activateSkill("pdf");
  const session = workspace.openSession();
  await session.activateSkill("csv");

  await Promise.all([session.close(), session.close()]);
  await session.close();

  expect(log).toEqual(["pdf on", "csv on", "csv off"]);
  expect(workspace.getActiveSkills()).toEqual(["pdf"]);
});

test("close() of a session that has nothing open and nothing to lose tells nothing", async () => {
  const session = createWorkspace().openSession();
  let told = 0;
  session.onChange(() => (told += 1));

  await session.close();

  expect(told).toBe(0);
});

test("close() lets a call finish that is running, and nothing new start inside it", async () => {
  let go = (): void => {};
  const outer = defineTool({
    name: "outer",
    description: "Waits, then calls",
    async run(_input, { call }) {
      await new Promise<void>((resolve) => (go = resolve));
      return call("clock");
    },
  });
  const workspace = createWorkspace({ tools: [outer, toolNamed("clock")] });
  const session = workspace.openSession();
  const running = session.call("outer");
  await new Promise(setImmediate);

  await session.close();
  go();

  expect(await running).toMatchObject({ status: "ok", output: { error: { code: "session-closed" } } });
});

test("close() refuses a call that waits for an approval", async () => {
  let approve = (): void => {};
  let ran = 0;
  const tool = defineTool({ name: "run", description: "Runs", run: () => (ran += 1) });
  const workspace = createWorkspace({ tools: [tool] });
  const session = workspace.openSession();
  const waiting = session.call(
    "run",
    {},
    { approve: () => new Promise((resolve) => (approve = () => resolve({ decision: "approve" }))) },
  );
  await new Promise(setImmediate);

  await session.close();
  approve();

  expect(codeOf(await waiting)).toBe("session-closed");
  expect(ran).toBe(0);
});

test("close() gives up what is being opened, and leaves nothing open", async () => {
  const log: string[] = [];
  const base = logged("base", log);
  const slow = skillOf({
    name: "slow",
    requires: ["base"],
    onActivate: ({ signal }) =>
      new Promise(() => signal.addEventListener("abort", () => void log.push(String(signal.reason)))),
  });
  const session = createWorkspace({ skills: [base, slow] }).openSession();
  const openings = [session.activateSkill("slow"), session.activateSkill("base")];
  await new Promise(setImmediate);

  await session.close();

  expect((await Promise.all(openings)).map(codeOf)).toEqual(["session-closed", "session-closed"]);
  expect(log).toEqual(["base on", "Error: the session was closed", "base off"]);
});

test("close() gives up nothing that another session opens, too", async () => {
  let go = (): void => {};
  const slow = skillOf({ name: "slow", onActivate: () => new Promise<void>((resolve) => (go = resolve)) });
  const workspace = createWorkspace({ skills: [slow] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  const openings = [one, other].map((session) => session.activateSkill("slow"));
  await new Promise(setImmediate);

  await one.close();
  go();

  expect((await Promise.all(openings)).map(codeOf)).toEqual(["session-closed", "ok"]);
  expect(other.getActiveSkills()).toEqual(["slow"]);
});

test("close() warns of a failing onDeactivate, for there is nobody else to tell", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));
  const skill = skillOf({ name: "sticky", onDeactivate: () => Promise.reject(new Error("stuck")) });
  const session = createWorkspace({ skills: [skill] }).openSession();
  await session.activateSkill("sticky");

  await session.close();
  await new Promise(setImmediate);

  expect(warnings.map(({ message }) => message)).toEqual(['Cannot finish onDeactivate of the skill "sticky": stuck']);
});

test("1,000 sessions have 1,000 sets of open skills", async () => {
  const skills = Array.from({ length: 10 }, (_, index) => skillWith(`s${index}`, "t"));
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills });
  const sessions = Array.from({ length: 1000 }, () => workspace.openSession());

  await Promise.all(sessions.map((session, index) => session.activateSkill(`s${index % 10}`)));
  const calls = sessions.map((session, index) =>
    Promise.all([session.call(`s${index % 10}/t`), session.call(`s${(index + 1) % 10}/t`)]),
  );

  for (const [own, foreign] of await Promise.all(calls)) {
    expect([codeOf(own), codeOf(foreign)]).toEqual(["ok", "tool-unavailable"]);
  }
  // Those with the same skills open share one list.
  expect(new Set(sessions.map((session) => session.getAvailableTools())).size).toBe(10);
  await Promise.all(sessions.map((session) => session.close()));
  expect(workspace.getSkills().map(({ usage }) => usage.activations)).toEqual(skills.map(() => 100));
});

function describe(holder: Session | Workspace): unknown {
  return {
    available: addresses(holder),
    active: holder.getActiveSkills(),
    names: holder.getActiveSkillToolNames(),
    states: holder.getSkills().map(({ skill, active }) => [skill.name, active]),
    isAvailable: holder.isToolAvailable("pdf/extract"),
    isFromActive: holder.isToolFromActiveSkill("pdf/extract"),
    found: holder.search("extract").map(({ available }) => available),
    instructions: holder.activeInstructions(),
    tools: holder.renderSkillTools(),
  };
}

function addresses(holder: Pick<Session, "getAvailableTools">): string[] {
  return holder.getAvailableTools().map((entry) => entry.address);
}

function toAddresses({ added, removed, replaced }: WorkspaceChange): Record<string, string[]> {
  const [one, two, three] = [added, removed, replaced].map((all) => all.map(({ address }) => address));
  return { added: one ?? [], removed: two ?? [], replaced: three ?? [] };
}

function codeOf(outcome: ToolOutcome | Awaited<ReturnType<Session["activateSkill"]>>): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}

function skillWith(name: string, ...tools: string[]): Skill {
  return skillOf({
    name,
    workDirection: tools.map((tool) => `Use plugin:${name}/${tool}.`).join(" "),
    tools: tools.map((tool) => toolNamed(tool, `${tool} of ${name}`)),
  });
}

function skillOf(definition: Omit<SkillDefinition, "description">): Skill {
  return defineSkill({ description: `About ${definition.name}`, ...definition });
}

function reusing(name: string): Skill {
  return skillOf({ name, reuses: [{ name: "take", uses: "pdf/extract" }] });
}

function logged(name: string, log: string[]): Skill {
  return skillOf({
    name,
    onActivate: () => void log.push(`${name} on`),
    onDeactivate: () => void log.push(`${name} off`),
  });
}

function toolNamed(name: string, output: unknown = name): Tool {
  return defineTool({ name, description: `Does ${name}`, run: () => output as string });
}
