import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillReport } from "./skill-report.ts";

/** Two skills of one name: the first in order is used, the others say so. */
export function reportShadowed(reports: readonly SkillReport[]): SkillReport[] {
  const first = new Map<string, SkillReport>();
  return reports.map((report) => {
    const winner = report.skill === undefined ? undefined : first.get(report.name);
    if (winner === undefined) {
      if (report.skill !== undefined) first.set(report.name, report);
      return report;
    }
    const message = `Skipped, because ${winner.path} has a skill of the same name and goes before it`;
    const { skill: _, ...rest } = report;
    const diagnostic: Diagnostic = { severity: "error", code: "skill-shadowed", message, file: "SKILL.md" };
    return { ...rest, status: "skipped", diagnostics: [...report.diagnostics, diagnostic] };
  });
}
