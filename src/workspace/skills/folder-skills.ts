import type { PipelineSpec } from "../../runtimes/pipeline/pipeline-spec.ts";
import { loadSkills as loadFolders, type LoadedSkills, type LoadSkillsOptions } from "../../skills/load/load-skills.ts";
import {
  createSkillSource as createFolderSource,
  type SkillSource,
  type SkillSourceOptions,
} from "../../skills/watch/skill-source.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { createListeners } from "../listeners.ts";
import type { SkillMethods } from "./skill-methods.ts";

/**
 * Finds and reads skill folders. Runs nothing that is in them, but the code (`skill.ts`) of folders that may run: it says what the
 * skill is.
 *
 * Contract: never throws for what is on the disk; every folder that was found has a report, also one that is no use.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { loadSkills } from "kitbag/skills";
 *
 * const { reports } = await loadSkills({ directories: ["skills"] });
 * const workspace = createWorkspace({ skills: reports.flatMap((report) => report.skill ?? []) });
 * console.assert(workspace.getSkills().length === reports.length);
 * ```
 */
export function loadSkills(options: LoadSkillsOptions = {}): Promise<LoadedSkills> {
  return loadFolders(withPipelines(options));
}

/**
 * Makes a source of skills that follow their folders, and the files that decide about them: `kitbag trust` in another terminal lets
 * a skill run at once. Give it to `followSkills`.
 *
 * @example
 * ```ts
 * import { createSkillSource } from "kitbag/skills";
 *
 * const { reports } = await createSkillSource({ directories: ["skills"] }).load();
 * console.assert(reports.every((report) => report.status !== "skipped"));
 * ```
 */
export function createSkillSource(options: SkillSourceOptions): SkillSource {
  return createFolderSource(withPipelines(options));
}

/** The folders say what a pipeline is; how it is made is known here. */
function withPipelines<Options extends LoadSkillsOptions>(options: Options): Options {
  return {
    async loadPipelines() {
      const { definePipeline } = await import("../../runtimes/pipeline/define-pipeline.ts");
      return (description) => definePipeline(description as unknown as PipelineSpec);
    },
    ...options,
  };
}

/** Skills that follow their folders. */
export interface FollowedSkills {
  /** What became of each folder, the last time it was looked at. */
  reports(): readonly SkillReport[];
  /** Calls `listener` after each change on disk, when the workspace is up to date; answers with the function that ends it. */
  onReload(listener: (reports: readonly SkillReport[]) => void): () => void;
  /** Ends following; the skills stay as they are. Resolves when nothing of it is running any more. */
  close(): Promise<void>;
}

/** The part of a workspace that following needs. */
export type SkillHolder = Pick<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getSkill"> & {
  change(changes: () => void): void;
};

/**
 * Adds the skills of `source` to a workspace and keeps them up to date while their folders change: skills that disappear together are
 * one change of the workspace, and so are skills that are added or changed together. An unusable version is reported, and the last
 * good one stays. A skill that is no longer trusted is closed.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createSkillSource, followSkills } from "kitbag/skills";
 *
 * const workspace = createWorkspace();
 * const followed = await followSkills(workspace, createSkillSource({ directories: ["skills"] }));
 * console.assert(workspace.getSkills().length === followed.reports().length);
 * await followed.close();
 * ```
 */
export async function followSkills(workspace: SkillHolder, source: SkillSource): Promise<FollowedSkills> {
  const reloads = createListeners<readonly SkillReport[]>();
  const own: OwnSkills = new Map();
  let reports: readonly SkillReport[] = [];
  const { close } = await source.watch(async (loaded) => {
    reports = await apply(workspace, own, loaded);
    reloads.tell(reports);
  });
  return { reports: () => reports, onReload: reloads.add, close };
}

/** A skill and the folder that it came from. */
interface OwnSkill {
  readonly skill: Skill;
  readonly directory: string;
}

/** What came from folders, by the name of the skill. */
type OwnSkills = Map<string, OwnSkill>;

async function apply(workspace: SkillHolder, own: OwnSkills, { reports }: LoadedSkills): Promise<SkillReport[]> {
  const found: OwnSkills = new Map(
    reports.flatMap(({ skill, directory }) => (skill === undefined ? [] : [[skill.name, { skill, directory }]])),
  );
  // A folder whose new version cannot be read keeps the last good one, whatever else has its name now.
  const broken = new Set(reports.filter(isBroken).map((report) => report.directory));
  const isKept = (name: string): boolean => {
    const known = own.get(name);
    return known !== undefined && broken.has(known.directory);
  };
  const leaving = [...own]
    .filter(([name, { skill }]) => !isKept(name) && isGone(skill, found.get(name)?.skill))
    .map(([name]) => name);
  for (const name of leaving) own.delete(name);
  if (leaving.length > 0) await workspace.removeSkill(leaving);
  const refused = new Map<string, Diagnostic>();
  workspace.change(() => {
    for (const [name, one] of found) {
      if (own.get(name)?.skill === one.skill || isKept(name)) continue;
      const diagnostic = put(workspace, own, one);
      if (diagnostic !== undefined) refused.set(one.directory, diagnostic);
    }
  });
  return reports.map((report) => withDiagnostic(report, refused.get(report.directory)));
}

/** A folder that is shadowed can be read; its skill is just not the one that is used. */
function isBroken({ status, diagnostics }: SkillReport): boolean {
  return status === "skipped" && !diagnostics.some((one) => one.code === "skill-shadowed");
}

/** Changed files take the grant back: the old version does not run in place of one that was not reviewed. */
function isGone(before: Skill, after: Skill | undefined): boolean {
  if (after === undefined) return true;
  return before.folder?.trust.status === "trusted" && after.folder?.trust.status === "untrusted";
}

function put(workspace: SkillHolder, own: OwnSkills, one: OwnSkill): Diagnostic | undefined {
  const { name } = one.skill;
  try {
    // A skill of this name that did not come from these folders stays: adding fails and says so.
    if (own.has(name) && workspace.getSkill(name) !== undefined) workspace.replaceSkill(one.skill);
    else workspace.addSkill(one.skill);
    own.set(name, one);
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const message = own.has(name) ? `Kept the last good version: ${cause.message}` : cause.message;
    return { severity: "warning", code: own.has(name) ? "skill-kept" : "skill-refused", message, file: "SKILL.md" };
  }
}

function withDiagnostic(report: SkillReport, diagnostic: Diagnostic | undefined): SkillReport {
  if (diagnostic === undefined) return report;
  return { ...report, status: "warning", diagnostics: [...report.diagnostics, diagnostic] };
}
