import { quote } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import type { Position } from "./positions.ts";
import type { Reporter } from "./reporter.ts";

const maxNameLength = 64;

/** Where a skill's name comes from. */
export interface NameSource {
  readonly declared: string | undefined;
  /** Where the declared name stands, or where it should. */
  readonly where: Position;
  readonly directoryName: string | undefined;
}

/** Chooses the name a skill goes by, and reports where the declared one breaks the rules of the specification. */
export function readName({ declared, where, directoryName }: NameSource, reporter: Reporter): string {
  if (declared === undefined) {
    const name = toUsableName([directoryName]);
    const message = `There is no name; the skill is called ${quote(name)} after its directory`;
    reporter.report("name-missing", message, where, `Write: name: ${toPlainName(directoryName ?? "") || "my-skill"}`);
    return name;
  }
  const used = toUsableName([declared, directoryName]);
  checkForm(declared, used, where, reporter);
  if (directoryName !== undefined && directoryName.normalize("NFKC") !== declared.normalize("NFKC")) {
    const message = `The name ${quote(declared)} is not that of the directory, ${quote(directoryName)}; some clients then ignore the skill`;
    reporter.report("name-mismatch", message, where, "Rename the directory, or change the name");
  }
  return used;
}

function checkForm(declared: string, used: string, where: Position, reporter: Reporter): void {
  const name = declared.normalize("NFKC");
  const length = name.length > maxNameLength ? Array.from(name).length : name.length;
  const called = used === declared ? "" : `; the skill is called ${quote(used)}`;
  if (length > maxNameLength) {
    const message = `The name has ${length} characters; at most ${maxNameLength} are allowed${called}`;
    reporter.report("name-too-long", message, where, "Shorten it");
  }
  const problem = findProblem(name);
  if (problem === undefined) return;
  const message = `The name ${quote(declared)} ${problem}${called}`;
  reporter.report("name-invalid", message, where, `Write: name: ${toPlainName(declared) || "my-skill"}`);
}

function findProblem(name: string): string | undefined {
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) return "has characters other than letters, digits and hyphens";
  if (name !== name.toLowerCase()) return "has upper-case letters";
  if (name.startsWith("-") || name.endsWith("-")) return "starts or ends with a hyphen";
  return name.includes("--") ? "has two hyphens in a row" : undefined;
}

/** The first candidate that can be a name, as it is or after its odd characters are replaced. */
function toUsableName(candidates: readonly (string | undefined)[]): string {
  for (const candidate of candidates) {
    if (isName(candidate)) return candidate;
    const plain = toPlainName(candidate ?? "");
    if (plain !== "") return plain;
  }
  return "skill";
}

/** The nearest name that the specification allows; empty if nothing is left. */
function toPlainName(text: string): string {
  const plain = text
    .slice(0, 256)
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "");
  return plain.slice(0, maxNameLength).replace(/-$/u, "");
}
