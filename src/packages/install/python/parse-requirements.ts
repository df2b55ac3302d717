import { KitbagError } from "../../../core/errors.ts";
import { parseRequirement, type Requirement } from "./parse-requirement.ts";

/** What requirements files ask for. */
export interface Requirements {
  readonly requirements: readonly Requirement[];
  readonly constraints: readonly Requirement[];
}

/** The text of another file, by its path relative to the skill's folder; undefined if there is none. */
export type ReadText = (path: string) => string | undefined;

const mostFiles = 50;
const mostLines = 5000;

/** Options of files that change nothing about where packages come from, and that we set ourselves. */
const harmless = new Set(["--require-hashes", "--prefer-binary"]);

/**
 * Reads a requirements file and the files that it includes (`-r`, `-c`). Whatever would change where packages come from is refused:
 * the operator says that, never a skill.
 *
 * @throws {KitbagError} `dependency-refused` if a line is no requirement that can be used.
 */
export function parseRequirements(file: string, read: ReadText): Requirements {
  const found = { requirements: [] as Requirement[], constraints: [] as Requirement[] };
  const seen = new Set<string>();

  function readFile(path: string, kind: keyof Requirements, from: string): void {
    if (seen.has(`${kind} ${path}`)) return;
    if (seen.size >= mostFiles) throw refused(path, from, `more than ${mostFiles} files include each other`);
    seen.add(`${kind} ${path}`);
    const text = read(path);
    if (text === undefined) throw refused(path, from, "this file is not in the skill's folder");
    const lines = toLines(text);
    if (lines.length > mostLines) throw refused(path, path, `it has more than ${mostLines} lines`);
    for (const line of lines) readLine(line, path, kind);
  }

  function readLine(line: string, path: string, kind: keyof Requirements): void {
    const [, flag, target] = /^(-r|--requirement|-c|--constraint)(?:\s+|=|(?<=^-[rc]))(\S+)$/u.exec(line) ?? [];
    if (flag !== undefined && target !== undefined) {
      readFile(toSibling(path, target), /c/u.test(flag.slice(0, 3)) ? "constraints" : kind, path);
      return;
    }
    if (harmless.has(line)) return;
    if (line.startsWith("-")) throw refused(line, path, refusalOf(line));
    const [wanted = "", ...options] = line.split(/\s+(?=--)/u);
    const hashes = options.map((option) => /^--hash[=\s]\s*(\S+)\s*$/u.exec(option)?.[1]);
    if (hashes.includes(undefined)) throw refused(line, path, "of options, a requirement may have only --hash");
    const parsed = parseRequirement(
      wanted,
      hashes.filter((one) => one !== undefined),
    );
    if (!parsed.ok) throw refused(line, path, parsed.reason);
    found[kind].push(parsed.requirement);
  }

  readFile(file, "requirements", file);
  return found;
}

/** A line of a file, without comments, its continuations joined. */
function toLines(text: string): readonly string[] {
  return text
    .replace(/^\u{FEFF}/u, "")
    .replaceAll("\r\n", "\n")
    .replaceAll(/\\\n/gu, " ")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*$/u, "").trim())
    .filter((line) => line !== "");
}

/** The path of a file that `path` includes; it cannot leave the folder. */
function toSibling(path: string, target: string): string {
  const parts = path.split("/").slice(0, -1);
  if (target.startsWith("/") || /^[a-z][\w+.-]*:/iu.test(target)) return target;
  for (const part of target.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return target;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

function refusalOf(line: string): string {
  if (/^(?:-i|--index-url|--extra-index-url|-f|--find-links|--no-index|--trusted-host|--pypi-url)\b/u.test(line)) {
    return "where packages come from is for the operator to say, not for a skill; remove the line";
  }
  if (/^(?:-e|--editable)\b/u.test(line)) return "packages come only from the package index; remove the line";
  return "this option is not supported; remove the line";
}

function refused(dependency: string, file: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}
