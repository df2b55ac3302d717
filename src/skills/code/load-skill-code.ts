import { basename } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError } from "../../core/errors.ts";
import { describeLoadError } from "../modules/describe-load-error.ts";
import { guardModule, type GuardedFolder } from "../modules/guard-folder.ts";
import { offerOwnPackage } from "../modules/own-package.ts";
import { toDefinedSkill, type DefinedSkill } from "./to-defined-skill.ts";

/** What a skill's own code defines, or why it cannot be used. */
export type SkillCode =
  | { readonly ok: true; readonly file: string; readonly skill: DefinedSkill }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Which file of which folder is loaded, and how long that may take. */
export interface CodeToLoad extends GuardedFolder {
  readonly file: string;
  readonly limitMs: number;
}

/**
 * Loads a skill's own code into this process. The caller has made sure that it may run: it runs with all rights of the process.
 * Only bytes with the digests of the folder run.
 *
 * Contract: never throws and never rejects; ends after `limitMs` if the code waits for something. Code that computes without end
 * holds up the process, as code of the process always can.
 */
export async function loadSkillCode({ file, limitMs, ...folder }: CodeToLoad): Promise<SkillCode> {
  try {
    offerOwnPackage();
    const module = (await within(limitMs, import(guardModule(folder, file)))) as { readonly default?: unknown };
    return { ok: true, file, skill: toDefinedSkill(module.default, basename(folder.directory)) };
  } catch (cause) {
    return { ok: false, diagnostic: toDiagnostic(file, cause) };
  }
}

async function within(limitMs: number, work: Promise<unknown>): Promise<unknown> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it was still loading after ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function toDiagnostic(file: string, cause: unknown): Diagnostic {
  if (isKitbagError(cause, "skill-untrusted")) {
    const message = `Did not load ${file}: ${cause.details.changed.join(", ")} since it was read`;
    return {
      severity: "error",
      code: "code-changed",
      message,
      file,
      cure: "try again when no program writes to the folder",
    };
  }
  const reason = isKitbagError(cause, "skill-failed") ? cause.details.reason : describeLoadError(cause);
  return { severity: "error", code: "code-failed", message: `Cannot load ${file}: ${reason}`, file };
}
