import type { Failure, KitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { InFlight } from "./in-flight.ts";
import { lifeStepFailed, runLifeStep, untilAborted } from "./skill-lifecycle.ts";

/** The lives of skills that several may have open: one begins with the first who opens it and ends with the last who closes it. */
export interface SkillLives {
  /**
   * Waits until the skill is awake. `onActivate` runs for the first who comes; who comes in the meantime waits for the same one.
   *
   * @throws {KitbagError} `skill-failed` if it fails, or `signal` is aborted before: the others still wait then.
   */
  enter(skill: Skill, signal: AbortSignal | undefined): Promise<Hold>;
  /** For somebody who begins with a skill that another has open. */
  join(name: string): void;
  /** What somebody holds who has the skill open. */
  holdOf(skill: Skill): Hold;
  /** Answers with what went wrong. `onDeactivate` runs when the last one leaves and no call is running, unless somebody comes back. */
  leave(hold: Hold): Promise<Failure[]>;
  /** Ends the life of a skill that is taken out; another one of this name begins when it is over. */
  retire(name: string): void;
}

/** That somebody has a skill open, or is opening it. */
export interface Hold {
  readonly skill: Skill;
  readonly life: Life;
}

/** One life of a skill. */
export interface Life {
  users: number;
  /** None while it is asleep. */
  waking: Waking | undefined;
  /** The end of the step before, which the next one waits for. */
  asleep: Promise<unknown>;
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

  async function leave({ skill, life }: Hold): Promise<Failure[]> {
    life.users -= 1;
    if (life.users === 0 && skill.onDeactivate !== undefined) await inFlight.idle(skill.name);
    // Somebody may have come back in the meantime.
    if (life.users > 0) return [];
    const failure = await fallAsleep(skill, life);
    life.onOver?.();
    return failure === undefined ? [] : [failure.toJSON()];
  }

  return {
    async enter(skill, signal) {
      const life = lifeOf(skill.name);
      life.users += 1;
      life.waking ??= wake(skill, life);
      const failure = await waitFor(life.waking, { skill, life }, signal);
      if (failure === undefined) return { skill, life };
      await leave({ skill, life });
      throw failure;
    },
    join: (name) => void (lifeOf(name).users += 1),
    holdOf: (skill) => ({ skill, life: lifeOf(skill.name) }),
    leave,
    retire(name) {
      const life = lifeOf(name);
      const isIdle = life.users === 0 && life.waking === undefined;
      const over = isIdle ? life.asleep : new Promise<void>((resolve) => (life.onOver = resolve));
      const next = createLife(over);
      lives.set(name, next);
      void over.then(() => {
        if (lives.get(name) === next && next.users === 0) lives.delete(name);
      });
    },
  };
}

function createLife(asleep: Promise<unknown> = Promise.resolve()): Life {
  return { users: 0, waking: undefined, asleep };
}

function wake(skill: Skill, life: Life): Waking {
  const stop = new AbortController();
  const waking: Waking = { isAwake: false, waiting: 0, stop, end: run() };
  return waking;

  async function run(): Promise<KitbagError | undefined> {
    await life.asleep;
    const failure = await runLifeStep(skill, "onActivate", stop.signal);
    const isWanted = life.waking === waking;
    waking.isAwake = failure === undefined && isWanted;
    if (failure !== undefined && isWanted) life.waking = undefined;
    // It woke up at the moment when the last one gave up waiting for it.
    if (failure === undefined && !isWanted) await runLifeStep(skill, "onDeactivate");
    return failure;
  }
}

async function waitFor(
  waking: Waking,
  { skill, life }: Hold,
  signal: AbortSignal | undefined,
): Promise<KitbagError | undefined> {
  if (waking.isAwake) return undefined;
  waking.waiting += 1;
  try {
    // There is nothing to stop in a skill that does nothing.
    return await (signal === undefined || skill.onActivate === undefined ? waking.end : raceAbort(waking, signal));
  } catch (cause) {
    return lifeStepFailed(skill, "onActivate", cause);
  } finally {
    waking.waiting -= 1;
    if (waking.waiting === 0) giveUp(waking, life, signal?.reason);
  }
}

async function raceAbort(waking: Waking, signal: AbortSignal): Promise<KitbagError | undefined> {
  signal.throwIfAborted();
  const done = new AbortController();
  try {
    return await Promise.race([waking.end, untilAborted(AbortSignal.any([signal, done.signal]))]);
  } finally {
    done.abort();
  }
}

/** Ends what nobody waits for any more: whoever comes next begins anew. */
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
