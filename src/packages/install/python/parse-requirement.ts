import { KitbagError } from "../../../core/errors.ts";
import { showValue } from "../../../core/json.ts";

/** One package that is needed, as Python's packaging standards write it. */
export interface Requirement {
  /** As package indexes compare names: lower case, `-` for every separator. */
  readonly name: string;
  readonly extras: readonly string[];
  /** `>=2,<3`; empty for any version. */
  readonly specifier: string;
  /** `python_version < "3.12"`; empty for always. */
  readonly marker: string;
  /** `sha256:…` of the files that may be used; empty for any. */
  readonly hashes: readonly string[];
}

/** A requirement, or why it cannot be used. */
export type ParsedRequirement =
  | { readonly ok: true; readonly requirement: Requirement }
  | { readonly ok: false; readonly reason: string };

const longest = 2000;
const head = /^([A-Za-z0-9](?:[\w.-]{0,200}[A-Za-z0-9])?)\s*(?:\[([^[\]]{0,500})\])?\s*(.*)$/su;
const clause = /^(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9_.*+!-]{1,100}$/u;
const markerWord = /"[^"\\]{0,200}"|'[^'\\]{0,200}'|[a-z_.]+|===|~=|==|!=|<=|>=|[<>()]|\s+/gu;
const markerNames = new Set(
  `python_version python_full_version os_name sys_platform platform_release platform_system platform_version platform_machine
  platform_python_implementation implementation_name implementation_version extra and or not in`.split(/\s+/u),
);
const hash = /^sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})$/u;

/** Reads one requirement: `requests[socks]>=2; python_version < "3.12"`. Addresses and paths are refused: they come from no index. */
export function parseRequirement(text: string, hashes: readonly string[] = []): ParsedRequirement {
  const trimmed = text.trim();
  if (trimmed.length > longest) return refuse(`it is longer than ${longest} characters`);
  if (/[\n\r\0]/u.test(trimmed)) return refuse("it has more than one line");
  const [, name = "", extras = "", rest = ""] = head.exec(trimmed) ?? [];
  if (name === "") return refuse("it does not begin with the name of a package");
  if (/^@|^[\w.+-]*:\/\/|^[/\\]/u.test(rest)) {
    return refuse("it names an address or a path, and packages come only from the package index");
  }
  const [versions = "", ...markers] = rest.split(";");
  const parts = {
    extras: toList(extras),
    versions: toList(versions.trim().replace(/^\((.*)\)$/su, "$1")),
    markers,
    hashes,
  };
  const wrong = findWrong(parts);
  if (wrong !== undefined) return refuse(wrong);
  const requirement = {
    name: normaliseName(name),
    extras: parts.extras.map(normaliseName).toSorted(),
    // One spelling for what means the same.
    specifier: parts.versions
      .map((one) => one.replaceAll(/\s/gu, ""))
      .toSorted()
      .join(","),
    marker: markers.join(";").trim(),
    hashes: hashes.toSorted(),
  };
  return { ok: true, requirement };
}

interface Parts {
  readonly extras: readonly string[];
  readonly versions: readonly string[];
  readonly markers: readonly string[];
  readonly hashes: readonly string[];
}

function findWrong({ extras, versions, markers, hashes }: Parts): string | undefined {
  const wrongVersion = versions.find((one) => !clause.test(one));
  if (wrongVersion !== undefined) return `${JSON.stringify(wrongVersion)} is not a version`;
  if (markers.length > 0 && !isMarker(markers.join(";").trim()))
    return `${JSON.stringify(markers.join(";"))} is not a condition`;
  const wrongExtra = extras.find((extra) => !/^[A-Za-z0-9][\w.-]*$/u.test(extra));
  if (wrongExtra !== undefined) return `${JSON.stringify(wrongExtra)} is not the name of an extra`;
  const wrongHash = hashes.find((one) => !hash.test(one));
  return wrongHash === undefined ? undefined : `${JSON.stringify(wrongHash)} is not a sha256, sha384 or sha512 hash`;
}

function toList(text: string): readonly string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function refuse(reason: string): ParsedRequirement {
  return { ok: false, reason };
}

function isMarker(text: string): boolean {
  if (text === "" || text.replaceAll(markerWord, "") !== "") return false;
  const words = text.replaceAll(/"[^"]*"|'[^']*'/gu, " ").match(/[a-z_.]+/gu) ?? [];
  return words.every((word) => markerNames.has(word));
}

/**
 * Reads requirements that a file lists.
 *
 * @throws {KitbagError} `dependency-refused` if one cannot be used.
 */
export function parseRequirementList(list: readonly unknown[], file: string): readonly Requirement[] {
  return list.map((item) => {
    const parsed = typeof item === "string" ? parseRequirement(item) : refuse("it is not a text");
    if (parsed.ok) return parsed.requirement;
    throw new KitbagError("dependency-refused", { dependency: showItem(item), file, reason: parsed.reason });
  });
}

function showItem(item: unknown): string {
  return typeof item === "string" ? item : showValue(item);
}

/** As package indexes compare names. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/gu, "-");
}

/** Writes a requirement as a line of a requirements file. */
export function renderRequirement({ name, extras, specifier, marker, hashes }: Requirement): string {
  const wanted = `${name}${extras.length === 0 ? "" : `[${extras.join(",")}]`}${specifier}`;
  const when = marker === "" ? "" : ` ; ${marker}`;
  return `${wanted}${when}${hashes.map((one) => ` --hash=${one}`).join("")}`;
}

/** What requirements files ask for. */
export interface Requirements {
  readonly requirements: readonly Requirement[];
  readonly constraints: readonly Requirement[];
}

/** The text of another file, by its path relative to the skill's folder; undefined if it does not exist. */
type ReadText = (path: string) => string | undefined;

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
