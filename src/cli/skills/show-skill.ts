import type { Skill } from "../../core/skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { ScriptInterface } from "../../skills/scripts/script-interface.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toShownPath } from "../shown-path.ts";
import { skillTokens, toolTokens, type SkillTokens } from "../../workspace/skills/render-skills.ts";

/** A tool in the view of its skill. */
export interface ShownTool {
  readonly address: string;
  readonly description: string;
  readonly confidence?: string;
  /** What its schema was read from. */
  readonly source?: string;
  readonly tokens: number;
}

/** Everything about a skill that is shown. */
export interface ShownSkill {
  readonly skill: Skill;
  readonly state: "open" | "closed";
  /** None for a skill that the configuration defines. */
  readonly report?: SkillReport;
  readonly path?: string;
  readonly tokens: SkillTokens;
  readonly tools: readonly ShownTool[];
  /** The scripts that are no tools. */
  readonly others: readonly Pick<ScriptInterface, "path" | "kind" | "reason">[];
}

/** Collects everything about a skill of `workspace`. */
export function showSkill(
  workspace: Workspace,
  skill: Skill,
  reports: readonly SkillReport[],
  cwd: string,
): ShownSkill {
  const report = reports.find((candidate) => candidate.skill === skill);
  const registered = skill.tools
    .map(({ name }) => workspace.getTool(`${skill.name}/${name}`))
    .filter((found) => found !== undefined);
  return {
    skill,
    state: workspace.getActiveSkills().includes(skill.name) ? "open" : "closed",
    ...(report !== undefined && { report, path: toShownPath(report.path, cwd) }),
    tokens: skillTokens(skill, registered),
    tools: registered.map((found) => toShownTool(found, report)),
    others: (report?.scripts ?? [])
      .filter(({ kind }) => kind !== "tool")
      .map(({ path, kind, reason }) => ({ path, kind, reason })),
  };
}

function toShownTool(found: RegisteredTool, report: SkillReport | undefined): ShownTool {
  const told = report?.tools.find(({ address }) => address === found.address);
  return {
    address: found.address,
    description: found.tool.description,
    ...(told !== undefined && { confidence: told.confidence, source: told.source }),
    tokens: toolTokens(found),
  };
}

/** The same as data. */
export function toSkillDocument({ skill, state, report, path, tokens, tools, others }: ShownSkill): unknown {
  const {
    folder,
    instructions: _,
    render: _render,
    commands: _commands,
    onActivate: _on,
    onDeactivate: _off,
    tools: _tools,
    ...rest
  } = skill;
  return {
    ...rest,
    status: report?.status ?? "ok",
    state,
    ...(folder !== undefined && {
      path,
      scope: folder.scope,
      trust: folder.trust,
      digest: folder.digest,
      files: folder.files,
    }),
    tokens,
    tools,
    scripts: report?.scripts ?? [],
    notTools: others,
    diagnostics: report?.diagnostics ?? [],
  };
}
