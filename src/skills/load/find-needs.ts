import { join, posix } from "node:path";

import { isRecord } from "../../core/json.ts";
import { isKitbagError } from "../../core/errors.ts";
import { withoutGrant, toGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { parseNetworkRule } from "../../sandbox/egress/network-rule.ts";
import { findProgram, isBasicProgram } from "../../sandbox/programs.ts";
import { isWellKnown } from "../../packages/install/known-packages.ts";
import type { ScriptInterface } from "../scripts/script-interface.ts";
import { hostsMissing } from "../manifests/read-plugin-toml.ts";
import { isHarmlessVariable } from "./check-declared.ts";
import type { SkillReport } from "./skill-report.ts";

/** Something that the scripts of a skill seem to need. Seen in their text, so neither complete nor proven. */
export interface SkillNeed {
  readonly kind: keyof SkillGrant;
  /** As a grant lists it; if nothing can be granted, what was seen. */
  readonly what: string;
  /** The first line that shows it: `scripts/a.py:12`. */
  readonly at: string;
  /** Why a yes does not grant it, and what to do. @default a yes grants it */
  readonly held?: string;
}

/** What the needs list that a yes grants. */
export function toOffer(needs: readonly SkillNeed[]): SkillGrant {
  return toGrant((kind) =>
    needs.filter((need) => need.kind === kind && need.held === undefined).map(({ what }) => what),
  );
}

/**
 * Finds what the scripts of a skill seem to need besides what its files ask for: hosts, variables, programs, packages, and files that
 * their text names. A file that an argument names needs no grant: a call that names it grants it. A skill whose author asks for permissions
 * is taken at its word.
 */
export function findNeeds(
  { skill, scripts, directory, name, diagnostics }: SkillReport,
  given: SkillGrant = {},
): readonly SkillNeed[] {
  if (skill === undefined) return [];
  const declared = skill.declared ?? skill.permissions;
  const isAsked = Object.keys(declared).length > 0;
  const files = new Set(skill.folder?.files.map(({ path }) => path));
  const found: SkillNeed[] = scripts
    .filter(({ kind }) => kind === "tool" || kind === "library")
    .flatMap((script) => {
      const place = { name, files, script, lines: readLines(join(directory, script.path)) };
      return [...(isAsked ? [] : findTouched(place)), ...findPackages(place)];
    });
  const missing = diagnostics.find(({ code }) => code === hostsMissing);
  if (missing !== undefined && (given.network ?? []).length === 0) {
    const held = `it names no hosts: kitbag grant ${name} --network HOST, or --network '*' for every public host`;
    found.push({ kind: "network", what: "hosts", at: missing.file, held });
  }
  const seen = new Map<string, SkillNeed>();
  for (const need of found) {
    const key = `${need.kind} ${need.what}`;
    if (!seen.has(key)) seen.set(key, need);
  }
  const open = withoutGrant(toOffer([...seen.values()]), given);
  return [...seen.values()].filter(({ kind, what, held }) => held !== undefined || open[kind]?.includes(what) === true);
}

interface NeedPlace {
  /** Of the skill. */
  readonly name: string;
  readonly files: ReadonlySet<string>;
  readonly script: ScriptInterface;
  readonly lines: readonly string[];
}

const largestScript = 1024 * 1024;

/** The lines of a script, those of comments and of texts that stand alone empty: what they name is not used. */
function readLines(path: string): readonly string[] {
  const read = readRegularFile(path, { maxBytes: largestScript });
  if (!read.ok) return [];
  const text = new TextDecoder().decode(read.bytes);
  return text
    .replaceAll(/^[ \t]*[rR]?("""|''')[\s\S]*?\1|\/\*[\s\S]*?\*\//gmu, (block) => block.replaceAll(/[^\n]/gu, ""))
    .split("\n")
    .map((line) => (/^\s*(?:#|\/\/|\*)/u.test(line) ? "" : line));
}

/** Where a word stands first in the code; nothing if only a comment has it. */
function findLine({ script, lines }: NeedPlace, word: string): string | undefined {
  const index = lines.findIndex((line) => hasWord(line, word));
  return index < 0 ? undefined : `${script.path}:${index + 1}`;
}

function hasWord(line: string, word: string): boolean {
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + 1)) {
    const around = `${line[at - 1] ?? " "}${line[at + word.length] ?? " "}`;
    if (!/[\w-]/u.test(around)) return true;
  }
  return false;
}

function findTouched(place: NeedPlace): SkillNeed[] {
  return [
    ...findHosts(place),
    ...findVariables(place),
    ...findPrograms(place),
    ...findFiles(place),
    ...findWorkingFolder(place),
  ];
}

const exampleHost = /(?:^|\.)(?:example\.(?:com|org|net)|your[\w-]*\.\w+|[\w.-]*\.example)(?::\d+)?$/u;

function findHosts(place: NeedPlace): SkillNeed[] {
  const { access } = place.script;
  const [means] = access.network;
  if (means === undefined) return [];
  const grant = `kitbag grant ${place.name} --network`;
  const hosts = access.hosts.flatMap((what): SkillNeed[] => {
    const at = exampleHost.test(what) ? undefined : findLine(place, what);
    if (at === undefined) return [];
    const wrong = whyNoRule(what);
    return [{ kind: "network", what, at, ...(wrong !== undefined && { held: `${wrong}: ${grant} …` }) }];
  });
  if (hosts.length > 0) return hosts;
  const at = findLine(place, means) ?? place.script.path;
  return [{ kind: "network", what: means, at, held: `which hosts it reaches cannot be seen: ${grant} HOST` }];
}

/** Why a host cannot be granted as it stands there. This machine and its network are never offered. */
function whyNoRule(host: string): string | undefined {
  try {
    return parseNetworkRule(host).kind === "address" ? "an address is not offered; if you mean it" : undefined;
  } catch (cause) {
    if (!isKitbagError(cause, "network-rule-invalid")) throw cause;
    return cause.details.reason;
  }
}

function findVariables(place: NeedPlace): SkillNeed[] {
  return place.script.environment.flatMap(({ name }): SkillNeed[] => {
    const at = isHarmlessVariable(name) ? undefined : findLine(place, name);
    return at === undefined ? [] : [{ kind: "env", what: name, at }];
  });
}

const interpreters = /^(?:python|node|ruby|perl|php|lua|bash|sh|zsh|Rscript)[\d.]*$/u;

function findPrograms(place: NeedPlace): SkillNeed[] {
  const { access, interpreter } = place.script;
  return access.programs.flatMap((what): SkillNeed[] => {
    const isOwn = isBasicProgram(what) || what === interpreter[0] || !/^[A-Za-z][\w.+-]*$/u.test(what);
    const at = isOwn ? undefined : findLine(place, what);
    if (at === undefined) return [];
    if (findProgram(what) !== undefined) return [{ kind: "run", what, at }];
    if (interpreters.test(what)) return [];
    const cure = `install it, then: kitbag grant ${place.name} --run ${what}`;
    return [{ kind: "run", what, at, held: `it is not on this machine; ${cure}` }];
  });
}

const heldWrite = "files that it makes are shown after the call, and kept if you say so";

/** The files that parameters name by their default: only a caller's own word names a file in a call. */
function findDefaults({ tools }: ScriptInterface): readonly string[] {
  return tools.flatMap(({ files = {}, inputSchema: { properties } }) =>
    Object.entries(files).flatMap(([name, use]) => {
      const parameter = use === "read" && isRecord(properties) ? properties[name] : undefined;
      const preset = isRecord(parameter) ? parameter["default"] : undefined;
      return [preset].flat().filter((one): one is string => typeof one === "string" && looksLikePath.test(one));
    }),
  );
}

/** A default such as `INBOX` or `600` is a word of the tool's own. */
const looksLikePath =
  /\/|^\.{1,2}$|\.[A-Za-z]\w{0,9}$|^(?:src|lib|app|docs?|data|tests?|input|output|assets|templates|config)$/u;

/** Files that the text names, relative to where the person is. Its own files are there, and so is what a call names. */
function findFiles(place: NeedPlace): SkillNeed[] {
  const { access } = place.script;
  const reads = [...access.reads, ...findDefaults(place.script)].flatMap((path): SkillNeed[] => {
    const at = isForeign(place, path) ? findLine(place, path) : undefined;
    return at === undefined ? [] : [{ kind: "read", what: `./${posix.normalize(path)}`, at }];
  });
  const writes = access.writes.flatMap((path): SkillNeed[] => {
    const at = isForeign(place, path) ? findLine(place, path) : undefined;
    if (at === undefined) return [];
    const folder = posix.dirname(posix.normalize(path));
    // A file that is not there yet cannot be granted alone, and the whole folder of the person is too much for it.
    if (folder === ".") return [{ kind: "write", what: path, at, held: heldWrite }];
    return [{ kind: "write", what: `./${folder}/`, at }];
  });
  return [...reads, ...writes];
}

/** Code that looks through the working directory, or works on the repository that it is. */
const looksAround = [
  /(?:\belse|\bor|\|\||\?\?|\bdefault=(?:\w+\()?)\s*["']\.\/?["']/u,
  /(?:\bos\.(?:walk|listdir|scandir)|\bglob\.i?glob|\bfs\.readdir(?:Sync)?|(?<![.\w])(?:i?glob|globSync|readdir|readdirSync))\(\s*(?:["'](?:\.\/?["']|[\w*]*\*)|\))/u,
  /\bPath\((?:["']\.["'])?\)\.(?:r?glob|iterdir)\(|\bPath\.cwd\(\)\.(?:r?glob|iterdir)\(/u,
  /\$\{\d:-\.\/?\}|\bfind \.(?:\s|$)|\bfor \w+ in (?:\.\/)?\*/u,
  /(?:^|[\s;|&("'[])git(?:["']\s*,\s*["']|\s+)(?:-C\s|blame|branch|cat-file|describe|diff|log|ls-files|rev-list|rev-parse|shortlog|show|status|tag)\b/u,
];
/** Code that makes the names of other files from that of its input. */
const looksBeside =
  /\.parent\s*\/|\bdirname\(|\bdirname\s+"?\$|\bsplitext\([^)]*\)\[0\]\s*\+|\.with_(?:name|suffix|stem)\(/u;
/** The script's own folder, and places for what it makes. */
const isElsewhere =
  /__file__|__dirname|import\.meta|BASH_SOURCE|\$0\b|\$\{0|fileURLToPath|sys\.path|mkdir|makedirs|out|dest|target|cache|\.home\(/iu;
const readsOthers = /\bexists\(|\bexistsSync\(|\bis_file\(|\bread_text\(|\bopen\([^,)]*\)|\breadFile/u;

/** Whether a script reads files of the working directory that no argument names. */
function findWorkingFolder({ script, lines }: NeedPlace): SkillNeed[] {
  const reads = lines.some((line) => readsOthers.test(line));
  const index = lines.findIndex(
    (line) =>
      looksAround.some((pattern) => pattern.test(line)) || (reads && looksBeside.test(line) && !isElsewhere.test(line)),
  );
  return index < 0 ? [] : [{ kind: "read", what: ".", at: `${script.path}:${index + 1}` }];
}

/** A plain relative path of the working directory, and not of the skill. */
function isForeign({ files, script }: NeedPlace, path: string): boolean {
  if (!/^(?:\.\/)?[\w][\w .@+-]*(?:\/[\w][\w .@+-]*)*$/u.test(path)) return false;
  const own = [path, posix.join(posix.dirname(script.path), path)].map((one) => posix.normalize(one));
  return !own.some((one) => files.has(one));
}

function findPackages(place: NeedPlace): SkillNeed[] {
  const { language, imports } = place.script;
  const isPython = language === "python";
  return imports.flatMap(({ name, package: known, declaredIn }): SkillNeed[] => {
    if (declaredIn !== undefined) return [];
    const what = isPython ? known : `npm:${known}`;
    const at = findLine(place, name) ?? place.script.path;
    if (isWellKnown(isPython ? "python" : "npm", known)) return [{ kind: "packages", what, at }];
    const held = `no package of this name is well known, and anyone can publish one; if you know it is right: kitbag grant ${place.name} --package ${what}`;
    return [{ kind: "packages", what, at, held }];
  });
}
