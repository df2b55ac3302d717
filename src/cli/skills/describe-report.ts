import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";

const weights = { error: 0, warning: 1, info: 2 } as const;

/** The worst that is said about a skill; of several, the first. */
export function firstFinding({ diagnostics }: Pick<SkillReport, "diagnostics">): Diagnostic | undefined {
  return diagnostics.toSorted((left, right) => weights[left.severity] - weights[right.severity])[0];
}

/** Why there is no skill: `skipped, because …`. */
export function whySkipped(report: Pick<SkillReport, "diagnostics">): string {
  const { message = "nobody knows why" } = firstFinding(report) ?? {};
  const reason = message.replace(/^skipped, because /iu, "");
  // A sentence goes on in lower case; a name like SKILL.md stays as it is.
  return `skipped, because ${reason.replace(/^\p{Lu}(?=\p{Ll}|\s)/u, (letter) => letter.toLowerCase())}`;
}
