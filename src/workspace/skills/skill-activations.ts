import { type Failure, KitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { InFlight } from "./running-calls.ts";

/** The lives of skills that several may have open: one begins with the first who opens it and ends with the last who closes it. */
export interface SkillLives {
  /**
   * Waits until the skill is awake. `onActivate` runs for the first who comes; who comes in the meantime waits for the same one.
   * Answers nothing if the skill was taken out in the meantime.
   *
   * @throws {KitbagError} `skill-failed` if it fails, or `signal` is aborted before: the others still wait then.
   */
  enter(skill: Skill, signal: AbortSignal | undefined): Promise<Hold | undefined>;
  /** Gives a use up that was entered and not settled. */
  cancel(hold: Hold): Promise<void>;
  /** Says that the skill of an entered use is open now. */
  settle(hold: Hold): void;
  /** Adds a use for a session that begins with the skill open. */
  join(name: string): void;
  /** The use of a session that has the skill open. */
  holdOf(skill: Skill): Hold;
  /** Whether it is of the life that the skill has now. */
  isCurrent(hold: Hold): boolean;
  /** Answers with what went wrong. `onDeactivate` runs when the last use ends and no call is running, unless the skill is opened again. */
  leave(hold: Hold): Promise<Failure[]>;
  /** Ends the life of a skill that is taken out, when those who have it open leave; another one of its name begins after that. */
  retire(skill: Skill): void;
}

/** One use of an activation: a session has the skill open, or is opening it. */
export interface Hold {
  readonly skill: Skill;
  readonly life: Life;
}

/** One life of a skill. */
export interface Life {
  /** How many have it open. */
  users: number;
  /** How many are about to. */
  openers: number;
  /** None while it is asleep. */
  waking: Waking | undefined;
  /** The end of the step before, which the next one waits for. */
  asleep: Promise<unknown>;
  isRetired: boolean;
  /** Called when one that is retired is over. */
  onOver?: () => void;
}

interface Waking {
  isAwake: boolean;
  waiting: number;
  readonly stop: AbortController;
  readonly end: Promise<KitbagError | undefined>;
}

/** Makes an empty record of lives. */
export function createSkillLives(inFlight: InFlight): SkillLives {
  const lives = new Map<string, Life>();

  function lifeOf(name: string): Life {
    const life = lives.get(name) ?? createLife();
    lives.set(name, life);
    return life;
  }

  async function endUnlessWanted({ skill, life }: Hold): Promise<Failure[]> {
    if (!isWanted(life) && skill.onDeactivate !== undefined) await inFlight.idle(skill.name);
    // It may have been opened again in the meantime.
    if (isWanted(life)) return [];
    const failure = await fallAsleep(skill, life);
    life.onOver?.();
    return failure === undefined ? [] : [failure.toJSON()];
  }

  async function cancel(hold: Hold): Promise<void> {
    hold.life.openers -= 1;
    // One that is retired ends without those who would have opened it.
    if (!hold.life.isRetired) await endUnlessWanted(hold);
  }

  return {
    async enter(skill, signal) {
      const hold = { skill, life: lifeOf(skill.name) };
      const { life } = hold;
      life.openers += 1;
      const failure = await waitUntilAwake(hold, signal);
      if (failure === undefined) return hold;
      await cancel(hold);
      if (life.isRetired) return undefined;
      throw failure;
    },
    cancel,
    settle({ life }) {
      life.openers -= 1;
      life.users += 1;
    },
    join: (name) => void (lifeOf(name).users += 1),
    holdOf: (skill) => ({ skill, life: lifeOf(skill.name) }),
    isCurrent: ({ skill, life }) => lives.get(skill.name) === life,
    leave(hold) {
      hold.life.users -= 1;
      return endUnlessWanted(hold);
    },
    retire(skill) {
      const life = lifeOf(skill.name);
      life.isRetired = true;
      if (life.waking !== undefined) giveUp(life.waking, life, new Error("the skill was taken out"));
      const over = life.users === 0 ? endUnlessWanted({ skill, life }) : untilOver(life);
      replaceLife(lives, skill.name, createLife(over));
    },
  };
}

function createLife(asleep: Promise<unknown> = Promise.resolve()): Life {
  return { users: 0, openers: 0, waking: undefined, asleep, isRetired: false };
}

/** Puts a life in the place of one that is retired. It need not be remembered after that one is over, if it has no use. */
function replaceLife(lives: Map<string, Life>, name: string, next: Life): void {
  lives.set(name, next);
  void next.asleep.then(() => {
    if (lives.get(name) === next && next.users + next.openers === 0) lives.delete(name);
  });
}

function untilOver(life: Life): Promise<void> {
  return new Promise((resolve) => (life.onOver = resolve));
}

function isWanted({ users, openers, isRetired }: Life): boolean {
  return users > 0 || (openers > 0 && !isRetired);
}

function wake({ skill, life }: Hold): Waking {
  const stop = new AbortController();
  const waking: Waking = { isAwake: false, waiting: 0, stop, end: run() };
  return waking;

  async function run(): Promise<KitbagError | undefined> {
    await life.asleep;
    const failure = await runLifeStep(skill, "onActivate", stop.signal);
    const isCurrent = life.waking === waking;
    waking.isAwake = failure === undefined && isCurrent;
    if (failure !== undefined && isCurrent) life.waking = undefined;
    // It woke up at the moment when the last one gave up waiting for it.
    if (failure === undefined && !isCurrent) await runLifeStep(skill, "onDeactivate");
    return failure;
  }
}

/** Answers with what went wrong. */
async function waitUntilAwake(hold: Hold, given: AbortSignal | undefined): Promise<KitbagError | undefined> {
  const { skill, life } = hold;
  if (life.waking?.isAwake === true) return undefined;
  // There is nothing to stop in a skill that does nothing.
  const signal = skill.onActivate === undefined ? undefined : given;
  if (signal?.aborted === true) return lifeStepFailed(skill, "onActivate", signal.reason);
  const waking = (life.waking ??= wake(hold));
  waking.waiting += 1;
  try {
    return await (signal === undefined ? waking.end : raceAbort(waking, signal));
  } catch (cause) {
    return lifeStepFailed(skill, "onActivate", cause);
  } finally {
    waking.waiting -= 1;
    if (waking.waiting === 0) giveUp(waking, life, signal?.reason);
  }
}

async function raceAbort(waking: Waking, signal: AbortSignal): Promise<KitbagError | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([waking.end, untilAborted(AbortSignal.any([signal, done.signal]))]);
  } finally {
    done.abort();
  }
}

/** Ends an activation that no session waits for any more: the next one begins anew. */
function giveUp(waking: Waking, life: Life, reason: unknown): void {
  if (life.waking !== waking || waking.isAwake) return;
  life.waking = undefined;
  life.asleep = waking.end;
  waking.stop.abort(reason);
}

/** Runs `onDeactivate`, unless the skill is asleep already; answers with what went wrong. */
async function fallAsleep(skill: Skill, life: Life): Promise<KitbagError | undefined> {
  if (life.waking === undefined) return void (await life.asleep);
  life.waking = undefined;
  const end = runLifeStep(skill, "onDeactivate");
  life.asleep = end;
  return end;
}

/** How long a skill's own code may take to open or close it. */
const limitMs = 30_000;

/** Runs a skill's own code that belongs to a step of its life; answers with what went wrong. */
async function runLifeStep(
  skill: Skill,
  step: "onActivate" | "onDeactivate",
  given?: AbortSignal,
): Promise<KitbagError | undefined> {
  const run = skill[step];
  if (run === undefined) return undefined;
  const stop = new AbortController();
  const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal]);
  const timer = setTimeout(() => stop.abort(new Error(`it was still running after ${limitMs} ms`)), limitMs);
  try {
    signal.throwIfAborted();
    await Promise.race([run({ skill: skill.name, signal }), untilAborted(signal)]);
    return undefined;
  } catch (cause) {
    return lifeStepFailed(skill, step, cause);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** The failure of a step, with what was thrown. */
function lifeStepFailed(skill: Skill, step: "onActivate" | "onDeactivate", cause: unknown): KitbagError {
  return new KitbagError("skill-failed", { skill: skill.name, step, reason: describeThrown(cause) }, { cause });
}

/** Rejects with the reason when `signal` is aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
