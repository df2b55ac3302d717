import type { ImportReport } from "../../forge/import/import-skills.ts";
import { toPrintableLine } from "../printable.ts";
import { renderTable } from "../render-table.ts";
import { listPermissions } from "../render-tool.ts";
import type { Terminal } from "../terminal.ts";
import { renderCandidate } from "./render-candidate.ts";

/** Writes what somebody is asked to enable. */
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
