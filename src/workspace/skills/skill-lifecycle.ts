import { KitbagError, type Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";

/** How long a skill's own code may take to open or close it. */
const limitMs = 30_000;

/** Runs `onActivate` of each skill in order; if one fails, those before it are undone and the failure is thrown. */
export async function runActivations(skills: readonly Skill[], signal: AbortSignal | undefined): Promise<void> {
  const done: Skill[] = [];
  for (const skill of skills) {
    const failure = await runStep(skill, "onActivate", signal);
    if (failure !== undefined) {
      for (const undone of done.toReversed()) await tryDeactivation(undone);
      throw failure;
    }
    done.push(skill);
  }
}

/** Runs `onDeactivate`; a failure is an answer, not a throw: the tools are gone anyway. */
export async function tryDeactivation(skill: Skill): Promise<Failure[]> {
  const failure = await runStep(skill, "onDeactivate", undefined);
  return failure === undefined ? [] : [failure.toJSON()];
}

/** Answers with what went wrong. */
async function runStep(
  skill: Skill,
  step: "onActivate" | "onDeactivate",
  given: AbortSignal | undefined,
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
    return new KitbagError("skill-failed", { skill: skill.name, step, reason: describeThrown(cause) }, { cause });
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
