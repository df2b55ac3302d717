import type { Diagnostic } from "../../core/diagnostics.ts";
import { toPrintableLine } from "../printable.ts";
import type { Style, Terminal } from "../terminal.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";

const styles: Readonly<Record<Diagnostic["severity"], Style>> = { error: "red", warning: "yellow", info: "dim" };

/**
 * Writes diagnostics, each as `file:line:column severity code message`, with the evidence and the cure below it. The files are written
 * with `folder` before them, so that an editor can open them.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  folder: string,
  terminal: Pick<Terminal, "style">,
): string {
  return diagnostics.flatMap((diagnostic) => renderOne(diagnostic, folder, terminal)).join("\n");
}

function renderOne(diagnostic: Diagnostic, folder: string, { style }: Pick<Terminal, "style">): string[] {
  const { severity, code, message, file, line, column, cure } = diagnostic;
  const place = [toPlace(folder, file), line, line === undefined ? undefined : column]
    .filter((part) => part !== undefined)
    .join(":");
  const evidence = getEvidence(diagnostic);
  return [
    `${toPrintableLine(place)} ${style(styles[severity], severity)} ${code} ${toPrintableLine(message)}`,
    ...(evidence === undefined ? [] : [`    | ${toPrintableLine(evidence)}`]),
    ...(cure === undefined ? [] : [`    → ${toPrintableLine(cure)}`]),
  ];
}

function toPlace(folder: string, file: string): string {
  return file === "" || file === "." ? folder : `${folder}/${file}`;
}

/** The part of the text that a scan reports; keys in it are masked. */
function getEvidence(diagnostic: Diagnostic): string | undefined {
  return "evidence" in diagnostic && typeof diagnostic.evidence === "string" ? diagnostic.evidence : undefined;
}

const weights = { error: 0, warning: 1, info: 2 } as const;

/** The most severe diagnostic of a skill; the first one if several are equally severe. */
export function firstFinding({ diagnostics }: Pick<SkillReport, "diagnostics">): Diagnostic | undefined {
  return diagnostics.toSorted((left, right) => weights[left.severity] - weights[right.severity])[0];
}

/** Says why a folder is not a skill: `skipped, because …`. */
export function whySkipped(report: Pick<SkillReport, "diagnostics">): string {
  const { message = "the reason is not known" } = firstFinding(report) ?? {};
  const reason = message.replace(/^skipped, because /iu, "");
  // A sentence goes on in lower case; a name like SKILL.md stays as it is.
  return `skipped, because ${reason.replace(/^\p{Lu}(?=\p{Ll}|\s)/u, (letter) => letter.toLowerCase())}`;
}
