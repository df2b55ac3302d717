import type { ForgedTool } from "../../forge/forge-interface.ts";
import { describeGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { grantOf } from "../../skills/load/to-skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { SkillState } from "../../workspace/skills/skill-methods.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliCommand, Invocation } from "../cli-command.ts";
import { addModuleOption, addSkillsOption } from "../options.ts";
import { renderTable, toShownPath } from "../render.ts";
import { showMaker } from "../forge/forged-versions.ts";
import { whySkipped } from "../skills/render-diagnostics.ts";
import { openTools } from "../open-project.ts";

/** `kitbag list`: the tools and the skills there are. */
export const listCommand: CliCommand = {
  examples: [
    ["kitbag list", "the tools of this project, and the skills that are found"],
    ["kitbag list skills", "also the skills of this folder, before all others"],
    ["kitbag list --module tools.ts", "the tools of one file instead of those of the project"],
    ["kitbag list --json | jq -r '.tools[].address'", "for programs"],
  ],
  define(command) {
    command.argument("[dir...]", "folders with skills; they go before KITBAG_SKILLS and the usual places");
    addModuleOption(command);
    addSkillsOption(command);
  },
  async run(invocation) {
    const { workspace, reports, forged } = await openTools(invocation, {
      directories: invocation.args,
      offersShipped: true,
    });
    const tools = listTools(workspace, forged);
    const skills = listSkills(workspace, reports, invocation.cwd);
    const unused = forged.filter(({ status }) => status === "untrusted" || status === "broken");
    return {
      document: { tools: tools.map(toToolEntry), skills, ...(unused.length > 0 && { unusedTools: unused }) },
      text: render({ tools, unused, skills }, invocation),
    };
  },
};

/** A tool, and whether it exists now. */
interface ListedTool extends RegisteredTool {
  readonly state: "open" | "closed";
  /** Who made it, if that was another user. */
  readonly madeBy?: string;
}

interface ListedSkill {
  readonly name: string;
  readonly state: "open" | "closed" | "skipped";
  /** Where it is; none for one that the configuration defines. */
  readonly path?: string;
  readonly scope?: string;
  readonly trust?: string;
  /** What a person granted it from outside. */
  readonly granted?: SkillGrant;
  readonly description: string;
  readonly tools: readonly string[];
  /** Why it was skipped. */
  readonly reason?: string;
}

/** Every tool, also those of skills that are closed. */
function listTools(workspace: Workspace, forged: readonly ForgedTool[]): ListedTool[] {
  const available = workspace.getAvailableTools();
  const known = new Set(available.map(({ address }) => address));
  const closed = workspace
    .getAllSkillToolStates()
    .flatMap(({ skill, tools }) => tools.map(({ name }) => workspace.getTool(`${skill}/${name}`)))
    .filter((found) => found !== undefined)
    .filter(({ address }) => !known.has(address));
  return [
    ...available.map((found) => ({ ...found, state: "open" as const, ...describeMaker(found, forged) })),
    ...closed.map((found) => ({ ...found, state: "closed" as const })),
  ];
}

function describeMaker({ address }: RegisteredTool, forged: readonly ForgedTool[]): Pick<ListedTool, "madeBy"> {
  const made = forged.find(({ name, owner }) => name === address && owner !== undefined);
  return made === undefined ? {} : { madeBy: showMaker(made) };
}

function toToolEntry({ tool, address, wireName, source, owner, state, madeBy }: ListedTool): unknown {
  const { description } = tool;
  const made = madeBy === undefined ? {} : { madeBy };
  return { address, wireName, source, owner, ...(source === "skill" && { state }), ...made, description };
}

function listSkills(workspace: Workspace, reports: readonly SkillReport[], cwd: string): ListedSkill[] {
  const paths = new Map(reports.map(({ directory, path }) => [directory, toShownPath(path, cwd)]));
  const skills = workspace.getSkills().map((state) => toListedSkill(state, paths));
  const skipped = reports
    .filter(({ skill }) => skill === undefined)
    .map((report): ListedSkill => ({
      name: report.name,
      state: "skipped",
      path: toShownPath(report.path, cwd),
      description: "",
      tools: [],
      reason: whySkipped(report),
    }));
  return [...skills, ...skipped];
}

function toListedSkill({ skill, active }: SkillState, paths: ReadonlyMap<string, string>): ListedSkill {
  const { name, description, folder, tools } = skill;
  const granted = folder && grantOf(folder);
  return {
    name,
    state: active ? "open" : "closed",
    ...(folder !== undefined && {
      path: paths.get(folder.directory) ?? folder.directory,
      scope: folder.scope,
      trust: folder.trust.status,
      ...(granted !== undefined && { granted }),
    }),
    description,
    tools: tools.map((tool) => `${name}/${tool.name}`),
  };
}

interface Listed {
  readonly tools: readonly ListedTool[];
  /** Tools that were made in the project, and may not run or cannot be used. */
  readonly unused: readonly ForgedTool[];
  readonly skills: readonly ListedSkill[];
}

function render({ tools, unused, skills }: Listed, { terminal }: Invocation): string {
  const toolRows = tools.map(({ tool, address, source, state, madeBy }) => [
    address,
    madeBy ?? (source === "skill" ? `skill, ${state}` : source),
    tool.description,
  ]);
  const unusedRows = unused.map(({ name, status, diagnostics: [first] }) => [
    name,
    status === "untrusted" ? "not trusted" : status,
    first?.cure ?? first?.message ?? "",
  ]);
  const hasGrants = skills.some(({ granted }) => granted !== undefined);
  const skillRows = skills.map((skill) => [
    skill.name,
    skill.trust === "untrusted" ? "not trusted" : skill.state,
    String(skill.tools.length),
    skill.path ?? "the configuration",
    ...(hasGrants ? [describeGrant(skill.granted ?? {})] : []),
    skill.reason ?? skill.description,
  ]);
  const columns = ["SKILL", "STATE", "TOOLS", "FROM", ...(hasGrants ? ["GRANTED"] : []), "DESCRIPTION"];
  const tables = [
    ...(toolRows.length + unusedRows.length > 0
      ? [renderTable(["TOOL", "SOURCE", "DESCRIPTION"], [...toolRows, ...unusedRows], terminal)]
      : []),
    ...(skillRows.length > 0 ? [renderTable(columns, skillRows, terminal)] : []),
  ];
  return tables.length === 0 ? "There are no tools." : tables.join("\n\n");
}
