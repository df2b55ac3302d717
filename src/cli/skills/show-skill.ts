import type { Skill } from "../../core/skill.ts";
import { describeGrant } from "../../core/skill-grant.ts";
import { grantOf } from "../../skills/load/to-skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { ScriptInterface } from "../../skills/scripts/script-interface.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toShownPath, renderFacts, type Fact, renderTable } from "../render.ts";
import { skillTokens, toolTokens, type SkillTokens } from "../../workspace/skills/render-skills.ts";
import { toPrintable } from "../printable.ts";
import { listPermissions } from "../render-tool.ts";
import type { Terminal } from "../terminal.ts";
import { whySkipped, renderDiagnostics } from "./render-diagnostics.ts";

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
      granted: grantOf(folder) ?? {},
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

/** Writes everything about a skill, for a person. */
export function renderSkill(shown: ShownSkill, terminal: Terminal): string {
  const { skill, report, path = "" } = shown;
  const title = (text: string): string => terminal.style("bold", text);
  const sections = [
    `${title(toPrintable(skill.name))}\n${toPrintable(skill.description)}`,
    renderFacts(describeSkill(shown)),
    renderTools(shown, terminal),
    renderOthers(shown, terminal),
    report === undefined || report.diagnostics.length === 0
      ? ""
      : `${title("Findings")}\n${renderDiagnostics(report.diagnostics, path, terminal)}`,
  ];
  return sections.filter((section) => section !== "").join("\n\n");
}

/** Writes why a folder is no skill. */
export function renderSkipped(report: SkillReport, path: string, terminal: Terminal): string {
  const head = `${terminal.style("bold", toPrintable(report.name))}\n${toPrintable(whySkipped(report))}`;
  return `${head}\n\n${renderDiagnostics(report.diagnostics, path, terminal)}`;
}

function describeSkill({ skill, state, path = "", tokens }: ShownSkill): Fact[] {
  const { folder } = skill;
  return [
    ["title", skill.displayName ?? ""],
    ["version", skill.version ?? ""],
    ["state", state === "open" ? "open" : "closed: its tools do not exist until it is opened"],
    ["folder", path],
    ["code", folder?.code === undefined ? "" : `${folder.code}, which runs in this process with all your rights`],
    ["trust", describeTrust(skill)],
    ["digest", folder?.digest ?? ""],
    ["files", folder === undefined ? "" : String(folder.files.length)],
    ["permissions", listPermissions(skill.permissions) || "none"],
    ["granted", describeGranted(skill)],
    ["can", skill.capabilities.join(", ")],
    ["requires", skill.requires.join(", ")],
    [
      "uses",
      skill.uses.map(({ address, range }) => (range === undefined ? address : `${address}@${range}`)).join(", "),
    ],
    ["exclusive", skill.exclusive ? "no other skill may be open beside it" : ""],
    ["opened by", skill.modelInvocable ? "" : "people only, not by a model"],
    [
      "token cost",
      `≈ ${tokens.listed} in the list of skills, ≈ ${tokens.opened} when it is opened, ≈ ${tokens.tools} for its tools`,
    ],
  ];
}

/** What of its permissions, and which packages, a person granted from outside. */
function describeGranted({ folder }: Skill): string {
  const granted = folder && grantOf(folder);
  return granted === undefined ? "" : `${describeGrant(granted)} (kitbag revoke takes it back)`;
}

function describeTrust({ folder }: Skill): string {
  if (folder === undefined) return "";
  const { trust, scope, directory, code } = folder;
  if (trust.status === "trusted")
    return scope === "project" || code !== undefined ? "trusted, as it is now" : `trusted: ${scopes[scope]}`;
  const cure = `read it, then run: kitbag trust ${directory}`;
  const reason = code === undefined ? untrusted[trust.removed === true ? "removed" : scope] : "it has code of its own";
  if (trust.changed.length === 0) return `not trusted: ${reason}; ${cure}`;
  return `not trusted: changed since it was (${trust.changed.slice(0, 8).join(", ")}); ${cure}`;
}

const untrusted = {
  removed: "its trust was removed with kitbag trust --remove",
  given: "KITBAG_SKILLS has a relative path, so it is a part of the project",
  project: "it comes with the project",
  user: "its trust could not be looked up",
} as const;

const scopes = {
  given: "you named its folder",
  project: "it comes with the project",
  user: "it is in your own folder",
} as const;

function renderTools({ tools, skill }: ShownSkill, terminal: Terminal): string {
  const rows = tools.map(({ address, confidence = "", source = "", tokens, description }) => [
    address,
    confidence,
    source,
    `≈ ${tokens}`,
    description,
  ]);
  const reused = skill.reuses.map(({ name, uses, description = "" }) => [
    `${skill.name}/${name}`,
    "",
    uses.address,
    "",
    description,
  ]);
  if (rows.length + reused.length === 0) return "It has no tools.";
  return renderTable(["TOOL", "CONFIDENCE", "READ FROM", "TOKENS", "DESCRIPTION"], [...rows, ...reused], terminal);
}

/** The scripts that are no tools, each with the reason. */
function renderOthers({ others }: ShownSkill, terminal: Terminal): string {
  if (others.length === 0) return "";
  const rows = others.map(({ path, kind, reason }) => [path, kind, reason]);
  return renderTable(["NOT A TOOL", "KIND", "WHY"], rows, terminal);
}
