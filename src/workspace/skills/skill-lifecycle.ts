import { KitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { describeThrown } from "../describe-thrown.ts";

/** How long a skill's own code may take to open or close it. */
const limitMs = 30_000;

/** Runs a skill's own code that belongs to a step of its life; answers with what went wrong. */
export async function runLifeStep(
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
export function lifeStepFailed(skill: Skill, step: "onActivate" | "onDeactivate", cause: unknown): KitbagError {
  return new KitbagError("skill-failed", { skill: skill.name, step, reason: describeThrown(cause) }, { cause });
}

/** Rejects with the reason when `signal` is aborted. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
