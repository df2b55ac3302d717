import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import type { PipelineSpec } from "../../runtimes/pipeline/pipeline-spec.ts";
import { loadSkills as loadFolders, type LoadedSkills, type LoadSkillsOptions } from "../../skills/load/load-skills.ts";
import {
  createSkillSource as createFolderSource,
  type SkillSource,
  type SkillSourceOptions,
} from "../../skills/watch/skill-source.ts";

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
  return { makePipeline: (description) => definePipeline(description as unknown as PipelineSpec), ...options };
}
