import type { SkillDifference, CandidateTool, ImportCandidate } from "../../forge/import/import-candidate.ts";
import { describeGrant, isEmptyGrant } from "../../core/skill-grant.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { describeFlags } from "../flags/describe-flags.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { renderFacts, renderTable, renderPatch, showBytes, plural } from "../render.ts";
import { listPermissions, renderOpened } from "../render-tool.ts";
import { renderDiagnostics } from "../skills/render-diagnostics.ts";
import { renderNeeds } from "../skills/render-needs.ts";
import type { Terminal } from "../terminal.ts";
import type { ImportReport } from "../../forge/import/import-skills.ts";

/** Writes everything about a skill that a person should know before enabling it. */
export function renderCandidate(candidate: ImportCandidate, terminal: Terminal): string {
  const { name, kind, version, description, tools, difference, diagnostics, place, changedHere = false } = candidate;
  const title = `${terminal.style("bold", toPrintableLine(`${name}${version === undefined ? "" : ` ${version}`}`))} (${kind})`;
  const loud = diagnostics.filter(({ severity }) => severity !== "info");
  const rows = tools.map((tool) => [tool.name, tool.confidence, `≈ ${tool.tokens}`, tool.description]);
  const sections = [
    `${title}\n${toPrintableLine(description)}`,
    [renderFacts(describeCandidate(candidate)), ...renderOpened(candidate.permissions, terminal)].join("\n"),
    ...renderNeeds(candidate.needs, terminal),
    rows.length === 0
      ? "It has no tools."
      : renderTable(["TOOL", "CONFIDENCE", "TOKENS", "DESCRIPTION"], rows, terminal),
    ...renderParameters(tools),
    loud.length === 0 ? "Findings: none." : `Findings:\n${renderDiagnostics(loud, place, terminal)}`,
    ...(changedHere ? [renderChangedHere(name, difference?.version?.from)] : []),
    ...(difference === undefined ? [] : [renderDifference(difference, terminal)]),
  ];
  return sections.join("\n\n");
}

/** What the tools take, a line each and never cut: what stands in a schema reaches a model, too. */
function renderParameters(tools: readonly CandidateTool[]): string[] {
  const lines = tools.flatMap(({ name, inputSchema }) =>
    describeFlags(inputSchema).map(({ flag, value, required, description }) => {
      const facts = [value, ...(required ? ["required"] : []), ...(description === "" ? [] : [description])];
      return `  ${toPrintableLine(`${name} ${flag}: ${facts.join("; ")}`)}`;
    }),
  );
  return lines.length === 0 ? [] : [["Parameters:", ...lines].join("\n")];
}

function renderChangedHere(name: string, version = "the version of now"): string {
  return toPrintableLine(
    `It was changed here since it was added. That is not in the new version, and stays as ${version}: kitbag rollback ${name} ${version}`,
  );
}

function describeCandidate(candidate: ImportCandidate): [string, string][] {
  const { source, plugin = "", files, bytes, digest, permissions, tokens, code, place, state } = candidate;
  return [
    ["source", showLocked(source)],
    ["commit", source.commit ?? ""],
    ["package", source.version ?? ""],
    ["integrity", source.integrity ?? ""],
    ["folder", source.folder ?? ""],
    ["plugin", plugin],
    ["goes to", `${place}${states[state]}`],
    ["size", `${plural(files, "file")}, ${showBytes(bytes)}`],
    ["digest", digest],
    ["permissions", listPermissions(permissions) || "none"],
    ["granted", isEmptyGrant(candidate.kept) ? "" : `${describeGrant(candidate.kept)} (stays)`],
    [
      "code",
      code === undefined ? "" : `${code} runs with all your rights: it stays disabled until you trust it by name`,
    ],
    [
      "token cost",
      `≈ ${tokens.listed} in the list of skills, ≈ ${tokens.opened} when it is opened, ≈ ${tokens.tools} for its tools`,
    ],
  ];
}

const states: Readonly<Record<ImportCandidate["state"], string>> = {
  new: "",
  same: ", where it is already",
  changed: ", in place of what was imported before",
  taken: ", in place of something that was not imported",
};

/** Where something came from, in the words that fetch it again. */
function showLocked({ kind, address, ref }: LockedSource): string {
  if (kind === "npm") return `npm:${address}${ref === undefined ? "" : `@${ref}`}`;
  return `${address}${ref === undefined ? "" : `#${ref}`}`;
}

const mostLines = 400;

/** Writes what becomes of a skill. */
function renderDifference(
  { version, permissions, tools, files, definition }: SkillDifference,
  terminal: Terminal,
): string {
  const words = [
    ...(version === undefined ? [] : [toPrintable(`  version ${version.from} → ${version.to}`)]),
    ...permissions.added.map((one) => terminal.style("red", toPrintable(`  + permission ${one}`))),
    ...[
      ...permissions.removed.map((one) => `  - permission ${one}`),
      ...tools.added.map((one) => `  + tool ${one}`),
      ...tools.removed.map((one) => `  - tool ${one}`),
      ...tools.changed.map((one) => `  ~ tool ${one}`),
      ...files.map(({ path, change }) => `  ${marks[change]} ${path}`),
    ].map(toPrintable),
  ];
  const patches = [...(definition === undefined ? [] : [definition]), ...files.flatMap(({ patch }) => patch ?? [])];
  const lines = patches.join("\n").split("\n");
  const more = lines.length > mostLines ? [`… and ${lines.length - mostLines} more lines; --json has them all`] : [];
  const shown = renderPatch([...lines.slice(0, mostLines), ...more].join("\n"), terminal);
  return ["Changes:", ...words, "", shown].join("\n").trimEnd();
}

const marks = { added: "+", removed: "-", changed: "~" } as const;

/** Writes what a person is asked to enable. */
export function renderReport(report: ImportReport, terminal: Terminal): string {
  return [...report.skills.map((skill) => renderCandidate(skill, terminal)), ...renderNotes(report)].join("\n\n");
}

/** Writes what a source holds, in a line each. */
export function renderList(report: ImportReport, terminal: Terminal): string {
  const { skills, plugins, marketplace, source } = report;
  const rows = skills.map(({ name, kind, plugin = "", permissions, tools, description }) => [
    name,
    kind,
    plugin,
    String(tools.length),
    listPermissions(permissions) || "none",
    description,
  ]);
  const elsewhere = plugins.filter(({ from }) => from !== "here");
  const others = elsewhere.map(({ name, from, description = "" }) => [name, from, description]);
  return [
    toPrintableLine(marketplace === undefined ? source : `${source}: the marketplace ${JSON.stringify(marketplace)}`),
    ...(rows.length === 0
      ? []
      : [renderTable(["SKILL", "KIND", "PLUGIN", "TOOLS", "PERMISSIONS", "DESCRIPTION"], rows, terminal)]),
    ...(others.length === 0 ? [] : [renderTable(["PLUGIN ELSEWHERE", "FROM", "DESCRIPTION"], others, terminal)]),
    ...renderNotes(report),
  ].join("\n\n");
}

function renderNotes({ skipped, notes }: ImportReport): string[] {
  const lines = [
    ...skipped.map(({ name, path, reason }) => `Not usable: ${path === "" ? name : path}: ${reason}`),
    ...notes.map((note) => `Note: ${note}`),
  ];
  return lines.length === 0 ? [] : [lines.map(toPrintableLine).join("\n")];
}
