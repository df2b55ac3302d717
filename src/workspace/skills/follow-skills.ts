import { isKitbagError } from "../../core/errors.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Skill } from "../../core/skill.ts";
import type { LoadedSkills } from "../../skills/load/load-skills.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { SkillSource } from "../../skills/watch/skill-source.ts";
import type { SkillMethods } from "./skill-methods.ts";

/** Skills that follow their folders. */
export interface FollowedSkills {
  /** What became of each folder, the last time it was looked at. */
  reports(): readonly SkillReport[];
  /** Calls `listener` after each change on disk, when the workspace is up to date; answers with the function that ends it. */
  onReload(listener: (reports: readonly SkillReport[]) => void): () => void;
  /** Ends following; the skills stay as they are. */
  close(): void;
}

/** The part of a workspace that following needs. */
export type SkillHolder = Pick<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getSkill"> & {
  change(changes: () => void): void;
};

/**
 * Adds the skills of `source` to a workspace and keeps them up to date while their folders change: all that changed at once is one
 * change of the workspace. A version that cannot be used is reported, and the last good one stays.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createSkillSource, followSkills } from "kitbag/skills";
 *
 * const workspace = createWorkspace();
 * const followed = await followSkills(workspace, createSkillSource({ directories: ["skills"] }));
 * console.assert(workspace.getSkills().length === followed.reports().length);
 * followed.close();
 * ```
 */
export async function followSkills(workspace: SkillHolder, source: SkillSource): Promise<FollowedSkills> {
  const listeners = new Set<(reports: readonly SkillReport[]) => void>();
  const own = new Map<string, Skill>();
  let reports = await apply(workspace, own, await source.load());
  const end = source.watch(async (loaded) => {
    reports = await apply(workspace, own, loaded);
    for (const listener of listeners) listener(reports);
  });
  return {
    reports: () => reports,
    onReload(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: end,
  };
}

async function apply(
  workspace: SkillHolder,
  own: Map<string, Skill>,
  { reports }: LoadedSkills,
): Promise<SkillReport[]> {
  const skills = new Map(
    reports.flatMap((report) => (report.skill === undefined ? [] : [[report.name, report.skill] as const])),
  );
  // A folder whose new version cannot be read keeps the last good one.
  const kept = new Set(reports.filter((report) => report.skill === undefined).map((report) => report.directory));
  const refused = new Map<string, Diagnostic>();
  workspace.change(() => {
    for (const [name, skill] of skills) {
      if (own.get(name)?.folder?.digest === skill.folder?.digest && isSameTrust(own.get(name), skill)) continue;
      const diagnostic = put(workspace, own, skill);
      if (diagnostic !== undefined) refused.set(name, diagnostic);
    }
  });
  for (const [name, skill] of own) {
    if (skills.has(name) || kept.has(skill.folder?.directory ?? "")) continue;
    own.delete(name);
    await workspace.removeSkill(name);
  }
  return reports.map((report) => withDiagnostic(report, refused.get(report.name)));
}

function isSameTrust(before: Skill | undefined, after: Skill): boolean {
  return JSON.stringify(before?.folder?.trust) === JSON.stringify(after.folder?.trust);
}

function put(workspace: SkillHolder, own: Map<string, Skill>, skill: Skill): Diagnostic | undefined {
  try {
    if (workspace.getSkill(skill.name) === undefined) workspace.addSkill(skill);
    else workspace.replaceSkill(skill);
    own.set(skill.name, skill);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const message = `Kept the last good version: ${cause.message}`;
    return { severity: "warning", code: "skill-kept", message, file: "SKILL.md" };
  }
}

function withDiagnostic(report: SkillReport, diagnostic: Diagnostic | undefined): SkillReport {
  if (diagnostic === undefined) return report;
  return { ...report, status: "warning", diagnostics: [...report.diagnostics, diagnostic] };
}
