import { expect, test } from "vitest";

import { defineSkill, type SkillDefinition } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Session, Workspace } from "../workspace.ts";
import type { SkillOutcome } from "./skill-methods.ts";

const hello = defineTool({ name: "hello", description: "Greets", run: () => "Hello" });

test("onActivate runs for the first who opens a skill, onDeactivate for the last who closes it", async () => {
  const { skill, log } = steps("pdf");
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  await one.activateSkill("pdf");
  await workspace.activateSkill("pdf");
  await other.activateSkill("pdf");
  await one.deactivateSkill("pdf");
  await workspace.deactivateSkill("pdf");
  log.push("still open");
  await other.deactivateSkill("pdf");

  expect(log).toEqual(["pdf on", "still open", "pdf off"]);
});

test("two who open a skill at once wait for the same onActivate", async () => {
  const gate = createGate();
  const { skill, log } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  const opening = [one.activateSkill("pdf"), other.activateSkill("pdf"), workspace.activateSkill("pdf")];
  await settle();
  const before = [one, other, workspace].map((holder) => holder.getActiveSkills());
  gate.open();

  expect(before).toEqual([[], [], []]);
  expect((await Promise.all(opening)).map(codeOf)).toEqual(["ok", "ok", "ok"]);
  expect(log).toEqual(["pdf on"]);
});

test("a failing onActivate leaves the skill open nowhere, and the next try is a new one", async () => {
  const gate = createGate();
  const { skill, log } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill, skillOf({ name: "top", requires: ["pdf"] })] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  const opening = [one.activateSkill("pdf"), other.activateSkill("top")];
  await settle();
  gate.fail(new Error("no licence"));
  const outcomes = await Promise.all(opening);
  const after = [one, other, workspace].map((holder) => holder.getActiveSkills());
  gate.open();
  const again = await one.activateSkill("pdf");

  expect(outcomes.map(codeOf)).toEqual(["skill-failed", "skill-failed"]);
  expect(after).toEqual([[], [], []]);
  expect(codeOf(again)).toBe("ok");
  expect(log).toEqual(["pdf on", "pdf on"]);
});

test("one who gives up waiting leaves the others waiting", async () => {
  const gate = createGate();
  const { skill, log, signals } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  const stop = new AbortController();

  const opening = [one.activateSkill("pdf", { signal: stop.signal }), other.activateSkill("pdf")];
  await settle();
  stop.abort(new Error("changed my mind"));
  const given = await opening[0];
  const wasAborted = signals[0]?.aborted;
  gate.open();

  expect(given).toMatchObject({
    status: "failed",
    error: { code: "skill-failed", details: { reason: "changed my mind" } },
  });
  expect(wasAborted).toBe(false);
  expect(codeOf(await opening[1])).toBe("ok");
  expect([one.getActiveSkills(), other.getActiveSkills()]).toEqual([[], ["pdf"]]);
  expect(log).toEqual(["pdf on"]);
});

test("when the last one gives up, onActivate is told to stop, and who comes next begins anew", async () => {
  const gate = createGate();
  const { skill, log, signals } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  const stop = new AbortController();

  const given = one.activateSkill("pdf", { signal: stop.signal });
  await settle();
  stop.abort(new Error("enough"));
  await settle();
  const coming = other.activateSkill("pdf");
  await settle();
  gate.open();

  expect(codeOf(await given)).toBe("skill-failed");
  expect(String(signals[0]?.reason)).toBe("Error: enough");
  expect(codeOf(await coming)).toBe("ok");
  expect(log).toEqual(["pdf on", "pdf on"]);
});

test("a signal that was aborted before runs no onActivate, and does not matter to a skill without one", async () => {
  const { skill, log } = steps("pdf");
  const workspace = createWorkspace({ skills: [skill, skillOf({ name: "plain" })] });
  const session = workspace.openSession();
  const signal = AbortSignal.abort(new Error("too late"));

  const outcomes = [await session.activateSkill("pdf", { signal }), await session.activateSkill("plain", { signal })];

  expect(outcomes.map(codeOf)).toEqual(["skill-failed", "ok"]);
  expect(log).toEqual([]);
});

test("a skill that wakes up at the moment when the last one gives up is put to sleep again", async () => {
  const gate = createGate();
  const { skill, log } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const session = workspace.openSession();
  const stop = new AbortController();

  const opening = session.activateSkill("pdf", { signal: stop.signal });
  await settle();
  gate.open();
  stop.abort();
  const outcome = await opening;

  expect(codeOf(outcome)).toBe("skill-failed");
  expect(session.getActiveSkills()).toEqual([]);
  expect(log).toEqual(["pdf on", "pdf off"]);
});

test("who opens a skill while its onDeactivate runs waits for its end", async () => {
  const gate = createGate();
  const { skill, log } = steps("pdf", { off: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");

  const closing = one.deactivateSkill("pdf");
  await settle();
  const opening = other.activateSkill("pdf");
  await settle();
  const between = [...log];
  gate.open();
  await Promise.all([closing, opening]);

  expect(between).toEqual(["pdf on", "pdf off"]);
  expect(log).toEqual(["pdf on", "pdf off", "pdf on"]);
});

test("who opens a skill that only waits for a call to end before it closes finds it awake", async () => {
  const gate = createGate();
  const slow = defineTool({ name: "slow", description: "Is slow", run: gate.wait });
  const { skill, log } = steps("pdf", { tools: [slow] });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");
  const call = one.call("pdf/slow");
  await settle();

  const closing = one.deactivateSkill("pdf");
  await settle();
  const opened = await other.activateSkill("pdf");
  gate.open();
  await Promise.all([call, closing]);

  expect(codeOf(opened)).toBe("ok");
  expect(log).toEqual(["pdf on"]);
  await other.close();
  expect(log).toEqual(["pdf on", "pdf off"]);
});

test("of two who wait for the same call before a skill closes, one closes it", async () => {
  const gate = createGate();
  const slow = defineTool({ name: "slow", description: "Is slow", run: gate.wait });
  const { skill, log } = steps("pdf", { tools: [slow] });
  const workspace = createWorkspace({ skills: [skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");
  const call = one.call("pdf/slow");
  await settle();

  const closing = [one.deactivateSkill("pdf")];
  await settle();
  await other.activateSkill("pdf");
  closing.push(other.deactivateSkill("pdf"));
  await settle();
  gate.open();
  await Promise.all([call, ...closing]);

  expect(log).toEqual(["pdf on", "pdf off"]);
});

test("removeSkill() while a session opens the skill: onActivate is told to stop, and the skill is not opened", async () => {
  const gate = createGate();
  const { skill, log, signals } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const session = workspace.openSession();

  const opening = session.activateSkill("pdf");
  await settle();
  const removed = await workspace.removeSkill("pdf");

  expect(removed).toBe(true);
  expect(codeOf(await opening)).toBe("skill-not-found");
  expect(String(signals[0]?.reason)).toBe("Error: the skill was taken out");
  expect(log).toEqual(["pdf on"]);
});

test("removeSkill() at the moment when a skill wakes up puts it to sleep again", async () => {
  const gate = createGate();
  const { skill, log } = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [skill] });
  const session = workspace.openSession();
  const opening = session.activateSkill("pdf");
  await settle();

  gate.open();
  await workspace.removeSkill("pdf");

  expect(codeOf(await opening)).toBe("skill-not-found");
  expect(log).toEqual(["pdf on", "pdf off"]);
});

test("whenever a skill wakes up after the last one gave up, it is open nowhere, and opens again", async () => {
  for (let ticks = 0; ticks < 20; ticks++) {
    const gate = createGate();
    const { skill, log } = steps("pdf", { on: gate.wait });
    const session = createWorkspace({ skills: [skill] }).openSession();
    const stop = new AbortController();
    const opening = session.activateSkill("pdf", { signal: stop.signal });
    await settle();

    stop.abort();
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    gate.open();
    const outcome = await opening;
    const between = session.getActiveSkills();
    const again = await session.activateSkill("pdf");

    expect([codeOf(outcome), between, codeOf(again)]).toEqual(["skill-failed", [], "ok"]);
    expect(log.filter((line) => line === "pdf on")).toHaveLength(2);
  }
});

test("a skill that is taken out and added again while a session opens it is opened as it is then", async () => {
  const gate = createGate();
  const old = steps("pdf", { on: gate.wait });
  const workspace = createWorkspace({ skills: [old.skill] });
  const session = workspace.openSession();

  const opening = session.activateSkill("pdf");
  await settle();
  await workspace.removeSkill("pdf");
  workspace.addSkill(steps("pdf", { log: old.log, shown: "new pdf" }).skill);

  expect(codeOf(await opening)).toBe("ok");
  expect(old.log).toEqual(["pdf on", "new pdf on"]);
  await session.close();
  expect(old.log).toEqual(["pdf on", "new pdf on", "new pdf off"]);
});

test("a skill that was awoken for another, and is taken out and added again meanwhile, is awoken again", async () => {
  const gate = createGate();
  const log: string[] = [];
  const top = skillOf({ name: "top", requires: ["base", "more"], onActivate: gate.wait });
  const workspace = createWorkspace({
    skills: [steps("base", { log }).skill, steps("more", { log }).skill, top],
  });
  const session = workspace.openSession();

  const opening = session.activateSkill("top");
  await settle();
  await workspace.removeSkill("base");
  workspace.addSkill(steps("base", { log, shown: "new base" }).skill);
  gate.open();

  expect(await opening).toMatchObject({ status: "ok", opened: ["base", "more", "top"] });
  expect(log).toEqual(["base on", "more on", "base off", "new base on"]);
});

test("two sessions that hold what the other waits for, taken out and added again, do not wait forever", async () => {
  const gate = createGate();
  const slow = (name: string, requires: string[]): Skill => skillOf({ name, requires, onActivate: gate.wait });
  const workspace = createWorkspace({
    skills: [steps("a").skill, steps("b").skill, slow("ab", ["a", "b"]), slow("ba", ["b", "a"])],
  });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  const opening = [one.activateSkill("ab"), other.activateSkill("ba")];
  await settle();
  await workspace.removeSkill(["a", "b"]);
  for (const name of ["a", "b"]) workspace.addSkill(steps(name).skill);
  gate.open();

  expect((await Promise.all(opening)).map(codeOf)).toEqual(["ok", "ok"]);
});

test("a skill that is taken out and added again is not opened before the old one's onDeactivate is over", async () => {
  const gate = createGate();
  const old = steps("pdf", { off: gate.wait });
  const workspace = createWorkspace({ skills: [old.skill] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];
  await one.activateSkill("pdf");

  const removing = workspace.removeSkill("pdf");
  await settle();
  workspace.addSkill(steps("pdf", { log: old.log, shown: "new pdf" }).skill);
  const opening = other.activateSkill("pdf");
  await settle();
  const between = [...old.log];
  gate.open();
  await Promise.all([removing, opening]);

  expect(between).toEqual(["pdf on", "pdf off"]);
  expect(old.log).toEqual(["pdf on", "pdf off", "new pdf on"]);
  expect(other.getActiveSkills()).toEqual(["pdf"]);
});

test("what a version required that was replaced while it was being opened is put to sleep again", async () => {
  const gate = createGate();
  const log: string[] = [];
  const base = steps("base", { log }).skill;
  const extra = steps("extra", { log }).skill;
  const top = (requires: string[]): Skill => skillOf({ name: "top", requires, onActivate: gate.wait });
  const workspace = createWorkspace({ skills: [base, extra, top(["base"])] });
  const session = workspace.openSession();

  const opening = session.activateSkill("top");
  await settle();
  workspace.replaceSkill(top(["extra"]));
  gate.open();

  expect(await opening).toMatchObject({ status: "ok", opened: ["extra", "top"] });
  expect(log).toEqual(["base on", "extra on", "base off"]);
});

test("what was awoken is put to sleep again if the tools cannot be put in", async () => {
  const { skill, log } = steps("pdf", { reuses: [{ name: "take", uses: "clock" }] });
  const workspace = createWorkspace({ tools: [defineTool({ name: "clock", description: "Ticks", run: () => 1 })] });
  workspace.addSkill(skill);
  // It has the wire name that would be an address.
  workspace.add(defineTool({ name: "other", description: "Other", run: () => 1 }), { component: "x" });
  const session = workspace.openSession();
  workspace.replaceSkill({ ...skill, reuses: [...skill.reuses, ...skill.reuses] });

  const outcome = await session.activateSkill("pdf");

  expect(codeOf(outcome)).toBe("tool-duplicate");
  expect(log).toEqual(["pdf on", "pdf off"]);
  expect(session.getActiveSkills()).toEqual([]);
  expect(workspace.getTool("pdf/take")).toBeUndefined();
});

test("one session that waits for a slow skill keeps no other from opening another", async () => {
  const gate = createGate();
  const workspace = createWorkspace({ skills: [steps("slow", { on: gate.wait }).skill, skillOf({ name: "quick" })] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  const waiting = one.activateSkill("slow");
  const quick = await other.activateSkill("quick");
  gate.open();

  expect(codeOf(quick)).toBe("ok");
  expect(codeOf(await waiting)).toBe("ok");
});

test.for<[string, (session: Session, workspace: Workspace) => Promise<unknown>]>([
  ["close()", (session) => session.close()],
  ["removeSkill() of the skill", (_, workspace) => workspace.removeSkill("pdf")],
  ["removeSkill() of what it requires", (_, workspace) => workspace.removeSkill("base")],
  [
    "a skill that is taken out and added again",
    async (_, workspace) => {
      await workspace.removeSkill("pdf");
      workspace.addSkill(skillOf({ name: "pdf" }));
    },
  ],
])("%s at any moment of an activation leaves awake exactly what is open", async ([, disturb]) => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const log: string[] = [];
    const base = steps("base", { log }).skill;
    const { skill } = steps("pdf", { log, requires: ["base"], tools: [hello] });
    const workspace = createWorkspace({ skills: [skill, base] });
    const session = workspace.openSession();

    const opening = session.activateSkill("pdf");
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    await Promise.all([disturb(session, workspace), opening]);
    const isBaseOpen = session.getActiveSkills().includes("base");
    const awakeBetween = awakeIn(log);
    await session.close();

    expect(awakeBetween.includes("base")).toBe(isBaseOpen);
    expect(awakeIn(log)).toEqual([]);
    expect(session.getActiveSkills()).toEqual([]);
  }
});

interface Gate {
  readonly wait: () => Promise<void>;
  open(): void;
  fail(cause: Error): void;
}

/** Lets nobody through until it is opened. */
function createGate(): Gate {
  let gate = Promise.withResolvers<void>();
  return {
    wait: () => gate.promise,
    open: () => gate.resolve(),
    fail(cause) {
      gate.reject(cause);
      gate = Promise.withResolvers<void>();
    },
  };
}

interface Steps {
  readonly skill: Skill;
  readonly log: string[];
  readonly signals: AbortSignal[];
}

interface StepOptions extends Partial<SkillDefinition> {
  readonly on?: () => Promise<void>;
  readonly off?: () => Promise<void>;
  readonly log?: string[];
  /** The name in the log. */
  readonly shown?: string;
}

/** A skill whose life is written down. */
function steps(name: string, options: StepOptions = {}): Steps {
  const { on, off, log = [], shown = name, ...definition } = options;
  const signals: AbortSignal[] = [];
  const skill = skillOf({
    ...definition,
    name,
    onActivate({ signal }) {
      signals.push(signal);
      log.push(`${shown} on`);
      return on?.();
    },
    onDeactivate() {
      log.push(`${shown} off`);
      return off?.();
    },
  });
  return { skill, log, signals };
}

function skillOf(definition: Omit<SkillDefinition, "description">): Skill {
  return defineSkill({ description: `About ${definition.name}`, ...definition });
}

function codeOf(outcome: SkillOutcome | undefined): string {
  return outcome?.status === "failed" ? outcome.error.code : "ok";
}

/** The skills that were awoken and not put to sleep. */
function awakeIn(log: readonly string[]): string[] {
  const names = [...new Set(log.map((line) => line.split(" ", 1).join()))];
  const count = (line: string): number => log.filter((one) => one === line).length;
  return names.filter((name) => count(`${name} on`) !== count(`${name} off`));
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
