import type { CompilerReport } from "../../packages/build/find-compilers.ts";
import type { ExaminedSandbox, SandboxExamination } from "../../sandbox/examine-sandboxes.ts";
import { renderTable } from "../render-table.ts";
import type { Terminal } from "../terminal.ts";
import type { MachineExamination } from "./examine-machine.ts";
import type { FoundProgram } from "./find-programs.ts";

/** Marks of what is right, neither, and wrong. */
export const marks = { ok: "✓", note: "·", wrong: "✗" } as const;

/** Shows what runs tools on this machine, in tables. */
export function renderMachine(machine: MachineExamination, terminal: Terminal): string {
  const { sandbox, interpreters, packageTools, compilers } = machine;
  const programs = [
    ...interpreters.map((program) => toProgramRow("interpreter", program)),
    ...packageTools.map((program) => toProgramRow("packages", program)),
    ...compilers.map(toCompilerRow),
  ];
  return [
    renderTable(
      ["", "SANDBOX", "FOUND"],
      sandbox.sandboxes.map((one) => toSandboxRow(one, sandbox)),
      terminal,
    ),
    renderChoice(sandbox, terminal),
    ...(sandbox.guarantees.length === 0 ? [] : [renderGuarantees(sandbox, terminal)]),
    renderTable(["", "PROGRAM", "FOR", "VERSION", "FOUND"], programs, terminal),
  ].join("\n\n");
}

function toSandboxRow({ name, status, found = "", cure }: ExaminedSandbox, { used }: SandboxExamination): string[] {
  const mark = { works: marks.ok, missing: marks.note, broken: marks.wrong }[status];
  const text = status === "works" ? (name === used ? "works, and is used" : "works") : `${status}: ${found}`;
  return [mark, name, cure === undefined ? text : `${text}; ${cure}`];
}

function renderChoice({ used, why }: SandboxExamination, terminal: Terminal): string {
  if (used === undefined) return terminal.style("red", `No sandbox is used: ${why}`);
  if (used === "off") return terminal.style("red", `No sandbox is used: ${why}`);
  return `${terminal.style("bold", used)} is used: ${why}`;
}

function renderGuarantees({ guarantees }: SandboxExamination, terminal: Terminal): string {
  const rows = guarantees.map(({ guarantee, enforced, how }) => [enforced ? marks.ok : marks.wrong, guarantee, how]);
  return renderTable(["", "GUARANTEE", "HOW"], rows, terminal);
}

function toProgramRow(purpose: string, { name, path, version = "", cure = "" }: FoundProgram): string[] {
  return [path === undefined ? marks.note : marks.ok, name, purpose, version, path ?? `missing; ${cure}`];
}

function toCompilerRow(report: CompilerReport): string[] {
  if ("cure" in report) return [marks.note, report.language, "compiler", "", `missing; ${report.cure}`];
  return [marks.ok, report.language, "compiler", report.version, report.program];
}
