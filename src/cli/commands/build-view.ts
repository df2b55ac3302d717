import { join } from "node:path";

import type { Failure } from "../../core/errors.ts";
import type { BuiltTool } from "../../packages/build/build-tool.ts";
import { toShownPath } from "../shown-path.ts";
import type { SkillBuilds } from "./build-find.ts";

/** What became of one tool. */
export type BuildOutcome =
  | (BuiltTool & { readonly address: string; readonly source: string; readonly elapsedMs: number })
  | { readonly status: "failed"; readonly address: string; readonly source: string; readonly error: Failure };

const words = { built: "built", cached: "built before", current: "up to date", failed: "failed" } as const;

/** Shows what became of each module, and what to do then. */
export function renderBuilds(skills: readonly SkillBuilds[], outcomes: readonly BuildOutcome[], cwd: string): string {
  return skills
    .flatMap((skill) => {
      const own = skill.tools.flatMap(({ address }) => outcomes.filter((outcome) => outcome.address === address));
      return [...own.map((outcome) => renderOutcome(outcome, skill, cwd)), ...renderTrust(skill, own, cwd)];
    })
    .join("\n");
}

function renderOutcome(outcome: BuildOutcome, { directory }: SkillBuilds, cwd: string): string {
  const head = `${outcome.address}: ${words[outcome.status]}`;
  if (outcome.status === "failed") return head;
  const { output, bytes, compiler, version, source, elapsedMs } = outcome;
  const path = toShownPath(join(directory, output), cwd);
  const how = outcome.status === "built" ? ` in ${(elapsedMs / 1000).toFixed(1)} s` : "";
  return `${head}${how}: ${path} (${toSize(bytes)}) from ${source}, by ${compiler} ${version}`;
}

/** A changed file is not what was trusted. */
function renderTrust(skill: SkillBuilds, outcomes: readonly BuildOutcome[], cwd: string): string[] {
  const hasChanged = outcomes.some(({ status }) => status === "built" || status === "cached");
  if (!hasChanged || !skill.needsTrust) return [];
  const path = toShownPath(skill.directory, cwd);
  return [`The skill ${skill.name} has changed, so it must be trusted again: kitbag trust ${path}`];
}

function toSize(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${Math.ceil(bytes / 1024)} KB`;
}
