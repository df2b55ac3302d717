import { type Failure, KitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { RunningCalls } from "./running-calls.ts";

/** The activations of skills that several may have open: one begins with the first who opens it and ends with the last who closes it. */
export interface SkillActivations {
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
  /** Whether it is of the activation that the skill has now. */
  isCurrent(hold: Hold): boolean;
  /** Answers with what went wrong. `onDeactivate` runs when the last use ends and no call is running, unless the skill is opened again. */
  leave(hold: Hold): Promise<Failure[]>;
  /** Ends the activation of a skill that is taken out, when those who have it open leave; another one of its name begins after that. */
  retire(skill: Skill): void;
}

/** One use of an activation: a session has the skill open, or is opening it. */
export interface Hold {
  readonly skill: Skill;
  readonly activation: Activation;
}

/** One activation of a skill. */
export interface Activation {
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

/** Makes an empty record of activations. */
export function createSkillActivations(runningCalls: RunningCalls): SkillActivations {
  const activations = new Map<string, Activation>();

  function activationOf(name: string): Activation {
    const activation = activations.get(name) ?? createActivation();
    activations.set(name, activation);
    return activation;
  }

  async function endUnlessWanted({ skill, activation }: Hold): Promise<Failure[]> {
    if (!isWanted(activation) && skill.onDeactivate !== undefined) await runningCalls.idle(skill.name);
    // It may have been opened again in the meantime.
    if (isWanted(activation)) return [];
    const failure = await fallAsleep(skill, activation);
    activation.onOver?.();
    return failure === undefined ? [] : [failure.toJSON()];
  }

  async function cancel(hold: Hold): Promise<void> {
    hold.activation.openers -= 1;
    // One that is retired ends without those who would have opened it.
    if (!hold.activation.isRetired) await endUnlessWanted(hold);
  }

  return {
    async enter(skill, signal) {
      const hold = { skill, activation: activationOf(skill.name) };
      const { activation } = hold;
      activation.openers += 1;
      const failure = await waitUntilAwake(hold, signal);
      if (failure === undefined) return hold;
      await cancel(hold);
      if (activation.isRetired) return undefined;
      throw failure;
    },
    cancel,
    settle({ activation }) {
      activation.openers -= 1;
      activation.users += 1;
    },
    join: (name) => void (activationOf(name).users += 1),
    holdOf: (skill) => ({ skill, activation: activationOf(skill.name) }),
    isCurrent: ({ skill, activation }) => activations.get(skill.name) === activation,
    leave(hold) {
      hold.activation.users -= 1;
      return endUnlessWanted(hold);
    },
    retire(skill) {
      const activation = activationOf(skill.name);
      activation.isRetired = true;
      if (activation.waking !== undefined) giveUp(activation.waking, activation, new Error("the skill was taken out"));
      const over = activation.users === 0 ? endUnlessWanted({ skill, activation }) : untilOver(activation);
      replaceActivation(activations, skill.name, createActivation(over));
    },
  };
}

function createActivation(asleep: Promise<unknown> = Promise.resolve()): Activation {
  return { users: 0, openers: 0, waking: undefined, asleep, isRetired: false };
}

/** Puts a activation in the place of one that is retired. It need not be remembered after that one is over, if it has no use. */
function replaceActivation(activations: Map<string, Activation>, name: string, next: Activation): void {
  activations.set(name, next);
  void next.asleep.then(() => {
    if (activations.get(name) === next && next.users + next.openers === 0) activations.delete(name);
  });
}

function untilOver(activation: Activation): Promise<void> {
  return new Promise((resolve) => (activation.onOver = resolve));
}

function isWanted({ users, openers, isRetired }: Activation): boolean {
  return users > 0 || (openers > 0 && !isRetired);
}

function wake({ skill, activation }: Hold): Waking {
  const stop = new AbortController();
  const waking: Waking = { isAwake: false, waiting: 0, stop, end: run() };
  return waking;

  async function run(): Promise<KitbagError | undefined> {
    await activation.asleep;
    const failure = await runOwnCode(skill, "onActivate", stop.signal);
    const isCurrent = activation.waking === waking;
    waking.isAwake = failure === undefined && isCurrent;
    if (failure !== undefined && isCurrent) activation.waking = undefined;
    // It woke up at the moment when the last one gave up waiting for it.
    if (failure === undefined && !isCurrent) await runOwnCode(skill, "onDeactivate");
    return failure;
  }
}

/** Answers with what went wrong. */
async function waitUntilAwake(hold: Hold, given: AbortSignal | undefined): Promise<KitbagError | undefined> {
  const { skill, activation } = hold;
  if (activation.waking?.isAwake === true) return undefined;
  // There is nothing to stop in a skill that does nothing.
  const signal = skill.onActivate === undefined ? undefined : given;
  if (signal?.aborted === true) return ownCodeFailed(skill, "onActivate", signal.reason);
  const waking = (activation.waking ??= wake(hold));
  waking.waiting += 1;
  try {
    return await (signal === undefined ? waking.end : raceAbort(waking, signal));
  } catch (cause) {
    return ownCodeFailed(skill, "onActivate", cause);
  } finally {
    waking.waiting -= 1;
    if (waking.waiting === 0) giveUp(waking, activation, signal?.reason);
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
function giveUp(waking: Waking, activation: Activation, reason: unknown): void {
  if (activation.waking !== waking || waking.isAwake) return;
  activation.waking = undefined;
  activation.asleep = waking.end;
  waking.stop.abort(reason);
}

/** Runs `onDeactivate`, unless the skill is asleep already; answers with what went wrong. */
async function fallAsleep(skill: Skill, activation: Activation): Promise<KitbagError | undefined> {
  if (activation.waking === undefined) return void (await activation.asleep);
  activation.waking = undefined;
  const end = runOwnCode(skill, "onDeactivate");
  activation.asleep = end;
  return end;
}

/** How long a skill's own code may take to open or close it. */
const limitMs = 30_000;

/** Runs a skill's own code that belongs to a step of its activation; answers with what went wrong. */
async function runOwnCode(
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
    return ownCodeFailed(skill, step, cause);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** The failure of a step, with what was thrown. */
function ownCodeFailed(skill: Skill, step: "onActivate" | "onDeactivate", cause: unknown): KitbagError {
  return new KitbagError("skill-failed", { skill: skill.name, step, reason: describeThrown(cause) }, { cause });
}

/** Rejects with the reason when `signal` is aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
