import { basename, resolve } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillReport, ToolReport } from "../../skills/load/skill-report.ts";
import type { CliCommand, ExitCode, Invocation } from "../cli-command.ts";
import { addSkillsOption, getTexts } from "../options.ts";
import { renderTable, toShownPath, plural } from "../render.ts";
import { firstFinding, renderDiagnostics } from "../skills/render-diagnostics.ts";
import { checkFolders } from "../skills/check-folders.ts";
import { toFindOptions, toLoadOptions } from "../skills/load-reports.ts";

/** `kitbag check`: what is wrong with skills, and what to do about it. */
export const checkCommand: CliCommand = {
  examples: [
    ["kitbag check", "all skills that are found from here"],
    ["kitbag check skills", "those of a folder; a single skill's folder works too"],
    ["kitbag check skills --spec", "hold each SKILL.md against the specification, to the letter"],
    ["kitbag check skills --json | jq '.summary'", "for programs; exit code 1 if a skill cannot be used"],
  ],
  define(command) {
    command.argument("[dir...]", "folders with skills, or skills; without any, KITBAG_SKILLS and the usual places");
    addSkillsOption(command);
    command.option("--spec", "apply the specification to the letter: what other clients refuse is an error");
  },
  async run(invocation) {
    const isSpec = invocation.options["spec"] === true;
    const { skills, files } = await loadChecked(invocation, isSpec);
    const summary = {
      files,
      skills: skills.length,
      ok: countStatus(skills, "ok"),
      warning: countStatus(skills, "warning"),
      skipped: countStatus(skills, "skipped"),
      tools: skills.reduce((sum, skill) => sum + skill.tools.length, 0),
    };
    const document: CheckDocument = { skills, summary };
    return { document, text: render(document, invocation), exitCode: toExitCode(skills) };
  },
};

/** What `--json` prints. */
interface CheckDocument {
  readonly skills: readonly CheckedSkill[];
  readonly summary: Readonly<Record<"files" | "skills" | "ok" | "warning" | "skipped" | "tools", number>>;
}

interface CheckedSkill {
  readonly path: string;
  readonly name: string;
  readonly status: SkillReport["status"];
  readonly diagnostics: readonly Diagnostic[];
  readonly tools: readonly ToolReport[];
}

/** Only what was named is checked; without a name, everything that other commands would find. */
async function loadChecked(invocation: Invocation, spec: boolean): Promise<{ skills: CheckedSkill[]; files: number }> {
  const { args, cwd, options } = invocation;
  const named = [...args, ...getTexts(options, "skills")];
  const places =
    args.length > 0
      ? { directories: named.map((directory) => resolve(cwd, directory)) }
      : toFindOptions(invocation, named);
  const { folders, files, leftOut, diagnostics } = await checkFolders(
    places,
    { ...toLoadOptions(invocation, named), spec },
    cwd,
  );
  const skills = folders.map(({ report, findings }) => toChecked(report, findings, cwd));
  const others = [
    ...diagnostics.map((diagnostic) => toSkipped(diagnostic.file, diagnostic, cwd)),
    ...leftOut.map(({ path, diagnostic }) => toSkipped(path, diagnostic, cwd)),
  ];
  return { skills: [...skills, ...others], files };
}

function toChecked(report: SkillReport, findings: readonly Diagnostic[], cwd: string): CheckedSkill {
  const { path, name, status, tools } = report;
  const isSuspicious = findings.some(({ severity }) => severity !== "info");
  return {
    path: toShownPath(path, cwd),
    name,
    status: status === "ok" && isSuspicious ? "warning" : status,
    diagnostics: [...report.diagnostics, ...findings],
    tools,
  };
}

/** An unreadable folder may hold skills: nothing vanishes, so it counts as a skipped skill. */
function toSkipped(path: string, diagnostic: Diagnostic, cwd: string): CheckedSkill {
  const file = diagnostic.file === path ? "." : diagnostic.file;
  const diagnostics = [{ ...diagnostic, file }];
  return { path: toShownPath(path, cwd), name: basename(path), status: "skipped", diagnostics, tools: [] };
}

function countStatus(skills: readonly CheckedSkill[], status: CheckedSkill["status"]): number {
  return skills.filter((skill) => skill.status === status).length;
}

/** What only says that a copy is not used, or that a folder is a part of a skill, is no failure. */
function toExitCode(skills: readonly CheckedSkill[]): ExitCode {
  const isFailure = ({ status, diagnostics }: CheckedSkill): boolean =>
    diagnostics.some(({ severity }) => severity === "error") ||
    (status === "skipped" && diagnostics.some(({ severity }) => severity === "warning") && !isLeftOut(diagnostics));
  return skills.some(isFailure) ? 1 : 0;
}

function isLeftOut(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ code }) => code === "skill-shadowed");
}

const statusStyles = { ok: "green", warning: "yellow", skipped: "red" } as const;

function render({ skills, summary }: CheckDocument, { terminal }: Invocation): string {
  if (skills.length === 0) return "There are no skills here.";
  const rows = skills.map((skill) => [
    skill.name,
    skill.status,
    String(skill.tools.length),
    firstFinding(skill)?.message ?? "",
  ]);
  const table = renderTable(["SKILL", "STATUS", "TOOLS", "FIRST FINDING"], rows, terminal);
  const found = skills
    .map((skill) => renderDiagnostics(skill.diagnostics, skill.path, terminal))
    .filter((text) => text !== "");
  const worst = summary.skipped > 0 ? "skipped" : summary.warning > 0 ? "warning" : "ok";
  return [
    table,
    ...(found.length > 0 ? [found.join("\n")] : []),
    terminal.style(statusStyles[worst], renderSummary(summary)),
  ].join("\n\n");
}

function renderSummary({ files, skills, ok, warning, skipped, tools }: CheckDocument["summary"]): string {
  const sum = `${plural(skills, "skill")}: ${ok} ok, ${warning} with warnings, ${skipped} skipped; ${plural(tools, "tool")}`;
  return files === 1
    ? `${sum}. The one SKILL.md file is accounted for.`
    : `${sum}. All ${files} SKILL.md files are accounted for.`;
}
