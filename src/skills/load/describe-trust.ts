import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillFolder } from "../../core/skill.ts";
import { showPath } from "../../platform/paths.ts";

const mostNamed = 8;

/** Says that a folder may not run, and what changed since it could. */
export function describeTrust({ directory, trust, code }: SkillFolder): Diagnostic[] {
  if (trust.status === "trusted") return [];
  const { changed } = trust;
  const more = changed.length > mostNamed ? `, and ${changed.length - mostNamed} more` : "";
  const message =
    changed.length === 0
      ? `Runs nothing until it is trusted: ${findObstacle(code, trust.removed)}`
      : `Runs nothing until it is trusted again: ${changed.slice(0, mostNamed).join(", ")}${more}`;
  const severity = changed.length === 0 ? "info" : "warning";
  const cure = `read it, then run: kitbag trust ${showPath(directory)}`;
  return [{ severity, code: "skill-untrusted", message, file: code ?? "SKILL.md", cure }];
}

function findObstacle(code: string | undefined, isRemoved = false): string {
  if (isRemoved) return "its trust was removed with kitbag trust --remove";
  return code === undefined ? "it came with the project" : `its ${code} runs in this process, with all your rights`;
}
