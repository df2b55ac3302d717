import fc from "fast-check";
import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill } from "../../core/skill.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceChange } from "../registry/registered-tool.ts";
import type { Workspace, Session } from "../workspace.ts";

test("a workspace and its sessions are what plain lists would be, after anything that happens one after the other", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = createWorld();
      for (const one of steps) {
        const outcome = await world.run(one);
        const expected = runOnModel(world.model, one);

        expect([one, outcome]).toEqual([one, expected]);
        expect(world.show()).toEqual(showModel(world.model));
        expect(world.findWrong()).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

test("whatever happens at once, every skill is awake exactly while somebody has it open", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 25 }), fc.scheduler(), async (steps, scheduler) => {
      const world = createWorld(() => scheduler.schedule(Promise.resolve()));

      const running = steps.map((one) => world.run(one));
      await scheduler.waitFor(Promise.all(running));
      // A skill that was taken out while somebody opened it falls asleep after that, and nobody waits for it.
      await scheduler.waitIdle();

      expect(world.findWrong()).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** Names of skills, what each requires, and which is exclusive. */
const kinds: readonly { readonly name: string; readonly requires: readonly string[]; readonly exclusive: boolean }[] = [
  { name: "base", requires: [], exclusive: false },
  { name: "left", requires: ["base"], exclusive: false },
  { name: "right", requires: ["base"], exclusive: false },
  { name: "alone", requires: ["base"], exclusive: true },
  { name: "fails", requires: ["left"], exclusive: false },
];

type Step =
  | { readonly kind: "open" | "close" | "call"; readonly holder: number; readonly skill: string }
  | { readonly kind: "remove" | "add" | "replace"; readonly skill: string }
  | { readonly kind: "session" }
  | { readonly kind: "end"; readonly holder: number };

const holder = fc.nat({ max: 3 });
const skill = fc.constantFrom(...kinds.map(({ name }) => name));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom("open", "close"), holder, skill }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("call"), holder, skill }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("remove", "add", "replace"), skill }) },
  { weight: 2, arbitrary: fc.constant({ kind: "session" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end"), holder }) },
);

// The model: who has what open, in order, and whether it was asked for.

interface ModelHolder {
  open: Map<string, boolean>;
  isClosed: boolean;
}

interface Model {
  readonly skills: Set<string>;
  readonly holders: ModelHolder[];
  readonly awake: Set<string>;
  readonly log: string[];
}

function runOnModel(model: Model, one: Step): string {
  switch (one.kind) {
    case "session":
      model.holders.push({ open: new Map(model.holders[0]?.open), isClosed: false });
      return "ok";
    case "add":
      if (model.skills.has(one.skill)) return "skill-duplicate";
      model.skills.add(one.skill);
      return "ok";
    case "replace":
      return model.skills.has(one.skill) ? "ok" : "skill-not-found";
    case "remove":
      return removeFromModel(model, one.skill);
    case "call":
    case "open":
    case "close":
    case "end": {
      const found = model.holders[one.holder];
      if (found === undefined) return "nobody";
      const code = one.kind === "end" ? endInModel(found, one.holder) : useInModel(model, found, one);
      sleepInModel(model);
      return code;
    }
  }
}

function useInModel(
  model: Model,
  found: ModelHolder,
  one: Extract<Step, { readonly skill: string; readonly holder: number }>,
): string {
  const { kind, skill: name } = one;
  if (found.isClosed) return "session-closed";
  if (kind === "call") {
    if (!model.skills.has(name)) return "tool-not-found";
    return found.open.has(name) ? "ok" : "tool-unavailable";
  }
  if (!model.skills.has(name)) return "skill-not-found";
  if (kind === "open") return openInModel(model, found, name);
  if (found.open.has(name)) found.open.set(name, false);
  keepNeeded(found);
  return "ok";
}

function openInModel(model: Model, found: ModelHolder, name: string): string {
  const plan = planOf(name);
  if (plan.some((one) => !model.skills.has(one))) return "skill-not-found";
  if (plan.includes("fails") && !found.open.has("fails")) return "skill-failed";
  const isAlone = kindOf(name).exclusive;
  for (const open of [...found.open.keys()]) {
    if (!plan.includes(open) && (isAlone || kindOf(open).exclusive)) found.open.delete(open);
  }
  for (const one of plan) {
    if (!found.open.has(one)) found.open.set(one, false);
    if (!model.awake.has(one)) model.log.push(`${one} on`);
    model.awake.add(one);
  }
  found.open.set(name, true);
  return "ok";
}

function endInModel(found: ModelHolder, index: number): string {
  if (index === 0) return "nobody";
  found.open.clear();
  found.isClosed = true;
  return "ok";
}

function removeFromModel(model: Model, name: string): string {
  if (!model.skills.has(name)) return "nothing";
  for (const found of model.holders) {
    for (const open of [...found.open.keys()]) if (planOf(open).includes(name)) found.open.delete(open);
    keepNeeded(found);
  }
  model.skills.delete(name);
  sleepInModel(model);
  return "ok";
}

function keepNeeded(found: ModelHolder): void {
  const needed = new Set([...found.open].flatMap(([name, asked]) => (asked ? planOf(name) : [])));
  for (const name of [...found.open.keys()]) if (!needed.has(name)) found.open.delete(name);
}

function sleepInModel({ holders, awake }: Model): void {
  for (const name of awake) if (!holders.some(({ open }) => open.has(name))) awake.delete(name);
}

function kindOf(name: string): (typeof kinds)[number] {
  return kinds.find((kind) => kind.name === name) as (typeof kinds)[number];
}

/** What must be open for a skill, itself last. */
function planOf(name: string): string[] {
  return [...kindOf(name).requires.flatMap(planOf), name];
}

function showModel({ holders, awake, skills }: Model): unknown {
  return {
    open: holders.map(({ open }) => [...open.keys()].toSorted()),
    awake: [...awake].toSorted(),
    skills: [...skills].toSorted(),
  };
}

// The real thing, and what is watched of it.

interface World {
  readonly model: Model;
  run(one: Step): Promise<string>;
  show(): unknown;
  /** What must never be, whatever happened. */
  findWrong(): string[];
}

function createWorld(pause: () => Promise<unknown> = async () => {}): World {
  const lives = createWatchedLives(pause);
  const workspace = createWorkspace();
  const holders: (Workspace | Session)[] = [workspace];
  const mirrors = [mirror(workspace)];
  const model: Model = {
    skills: new Set(),
    holders: [{ open: new Map(), isClosed: false }],
    awake: new Set(),
    log: [],
  };
  for (const { name } of kinds) {
    workspace.addSkill(lives.make(name));
    model.skills.add(name);
  }

  async function run(one: Step): Promise<string> {
    if (one.kind === "session") {
      const session = workspace.openSession();
      holders.push(session);
      mirrors.push(mirror(session));
      return "ok";
    }
    if (one.kind === "remove") return (await workspace.removeSkill(one.skill)) ? "ok" : "nothing";
    if (one.kind === "add") return codeOf(() => workspace.addSkill(lives.make(one.skill)));
    if (one.kind === "replace") return codeOf(() => workspace.replaceSkill(lives.make(one.skill)));
    const found = "holder" in one ? holders[one.holder] : undefined;
    if (found === undefined || !("holder" in one)) return "nobody";
    if (one.kind === "end") {
      if (!("close" in found)) return "nobody";
      await found.close();
      return "ok";
    }
    const outcome = await use(found, one.kind, one.skill);
    return outcome.status === "ok" ? "ok" : outcome.error.code;
  }

  return {
    model,
    run,
    show: () => ({
      open: holders.map((found) => found.getActiveSkills().toSorted()),
      awake: lives.awake(),
      skills: workspace
        .getSkills()
        .map((state) => state.skill.name)
        .toSorted(),
    }),
    findWrong() {
      const open = new Set(holders.flatMap((found) => found.getActiveSkills()));
      const wrong = lives
        .awake()
        .filter((name) => !open.has(name))
        .map((name) => `${name} is awake for nobody`);
      wrong.push(...[...open].filter((name) => !lives.awake().includes(name)).map((name) => `${name} sleeps`));
      for (const [index, found] of holders.entries()) wrong.push(...findWrongIn(found, mirrors[index] ?? []));
      return [...wrong, ...lives.wrong];
    },
  };
}

function use(
  found: Workspace | Session,
  kind: "call" | "close" | "open",
  name: string,
): ReturnType<typeof found.call> | ReturnType<typeof found.activateSkill> {
  if (kind === "call") return found.call(`${name}/run`);
  return kind === "open" ? found.activateSkill(name) : found.deactivateSkill(name);
}

/** What is available must be what is open, what was heard, and what each question answers. */
function findWrongIn(found: Workspace | Session, heard: readonly string[]): string[] {
  const available = found.getAvailableTools().map((entry) => entry.address);
  const open = found.getActiveSkills().map((name) => `${name}/run`);
  const wrong: string[] = [];
  if (available.join() !== open.join()) wrong.push(`${available.join()} is available, ${open.join()} is open`);
  if (heard.toSorted().join() !== available.toSorted().join()) wrong.push(`${heard.join()} was heard`);
  for (const name of found.getActiveSkills()) {
    for (const required of kindOf(name).requires) {
      if (!found.getActiveSkills().includes(required)) wrong.push(`${name} is open without ${required}`);
    }
  }
  return wrong;
}

/** What somebody believes to be available who only listens. */
function mirror(found: Workspace | Session): string[] {
  const known = found.getAvailableTools().map((entry) => entry.address);
  found.onChange(({ added, removed }: WorkspaceChange) => {
    for (const { address } of added) known.push(address);
    for (const { address } of removed) known.splice(known.indexOf(address), 1);
  });
  return known;
}

interface WatchedLives {
  make(name: string): Skill;
  awake(): string[];
  readonly wrong: string[];
}

/** Skills whose steps are watched: they must come in turns, and never two at once. */
function createWatchedLives(pause: () => Promise<unknown>): WatchedLives {
  const states = new Map<string, "asleep" | "busy" | "awake">();
  const turns = new Map<string, object>();
  const wrong: string[] = [];

  async function wake(name: string, signal: AbortSignal): Promise<void> {
    // Who is told to stop while it wakes up goes back to sleep at once.
    const stop = (): void => {
      states.set(name, "asleep");
      turns.delete(name);
    };
    signal.addEventListener("abort", stop);
    await turn(name, "asleep", "awake");
    signal.removeEventListener("abort", stop);
  }

  async function turn(name: string, from: "asleep" | "awake", to: "asleep" | "awake"): Promise<void> {
    const state = states.get(name) ?? "asleep";
    if (state !== from) wrong.push(`${name} was ${state} and became ${to}`);
    const own = {};
    turns.set(name, own);
    states.set(name, "busy");
    await pause();
    if (turns.get(name) !== own) return;
    const isFailing = name === "fails";
    states.set(name, isFailing ? "asleep" : to);
    if (isFailing) throw new Error("it never works");
  }

  return {
    make: (name) =>
      defineSkill({
        ...kindOf(name),
        description: `About ${name}`,
        tools: [defineTool({ name: "run", description: "Runs", run: () => name })],
        onActivate: ({ signal }) => wake(name, signal),
        onDeactivate: () => turn(name, "awake", "asleep"),
      }),
    awake: () =>
      [...states]
        .filter(([, state]) => state !== "asleep")
        .map(([name]) => name)
        .toSorted(),
    wrong,
  };
}

function codeOf(work: () => void): string {
  try {
    work();
    return "ok";
  } catch (cause) {
    return (cause as { readonly code: string }).code;
  }
}
