import type { Skill } from "../../core/skill.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { toPrintable } from "../printable.ts";
import { renderFacts, type Fact } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { listPermissions } from "../render-tool.ts";
import type { Terminal } from "../terminal.ts";
import { whySkipped } from "./describe-report.ts";
import { renderDiagnostics } from "./render-diagnostics.ts";
import type { ShownSkill } from "./show-skill.ts";

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
  user: "nobody could look it up",
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
