import { lstatSync } from "node:fs";
import { dirname, isAbsolute, posix, relative, resolve } from "node:path";

import type { ScriptCode } from "../../../core/script-code.ts";
import type { Tool } from "../../../core/tool.ts";
import { findPythonPackage, isWellKnown } from "../../../packages/install/known-packages.ts";
import { isInside } from "../../../platform/paths.ts";
import { findProgram } from "../../../sandbox/programs.ts";
import type { ExitStatus } from "../../../sandbox/sandbox.ts";

/** How a script that failed ended. */
export interface FailedEnd {
  readonly exit: ExitStatus;
  readonly stderr: string;
  /** What it printed: some programs say there why they end. @default nothing */
  readonly stdout?: string;
  /** The folder that the caller works in. Not set for a caller on another machine: a hint must not tell what is on this one. */
  readonly directory?: string | undefined;
}

interface Failure extends FailedEnd {
  readonly tool: Tool;
  readonly code: ScriptCode;
  /** The last lines of both. */
  readonly text: string;
}

const lastLines = 30;

/** What would let a script that failed go on, as far as its last words tell: the command that cures it. Nothing if they tell nothing. */
export function findHint(tool: Tool, code: ScriptCode, end: FailedEnd): string | undefined {
  const text = [end.stdout ?? "", end.stderr]
    .map((said) => said.trimEnd().split("\n").slice(-lastLines).join("\n"))
    .join("\n");
  const failure: Failure = { ...end, tool, code, text };
  for (const find of finders) {
    const hint = find(failure);
    if (hint !== undefined) return hint;
  }
  return end.exit.code === 127 ? hintNotFound(failure) : undefined;
}

/** The first group of the first pattern that fits. */
function match(patterns: readonly RegExp[], text: string): string | undefined {
  return patterns
    .map((pattern) =>
      pattern
        .exec(text)
        ?.slice(1)
        .find((group) => group !== undefined),
    )
    .find((found) => found !== undefined);
}

/** What a person does to grant something: a command for a skill; for a tool without one, the line of its manifest. */
function toCure(
  { code: { skill } }: Failure,
  kind: "env" | "network" | "read" | "run" | "write",
  what: string,
): string {
  if (skill === undefined) return `add it to the skill's permissions: ${kind} = [${JSON.stringify(what)}]`;
  return `kitbag grant ${skill} --${kind} ${/^[\w@%+=:,./~-]+$/u.test(what) ? what : `'${what.replaceAll("'", String.raw`'\''`)}'`}`;
}

/** What sandboxes print when a granted path has been replaced since it was checked. */
const replacedGrant =
  /^(?:bwrap: (?:Can't (?:get type of|find) source|Can't bind mount|Race condition)|kitbag: (?:sandbox: )?opening the granted path)/u;

function hintReplaced({ stderr }: Failure): string | undefined {
  if (!replacedGrant.test(stderr)) return undefined;
  return "a granted path was replaced or removed while the sandbox was made, so nothing of the script ran; another tool may have done that: put the path back, and call again";
}

const pythonModule = /ModuleNotFoundError: No module named '([\w.]+)'/u;
const nodeModule = /Cannot find (?:package|module) '((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/[^'\n]*)?'/u;
/** Languages for which nothing is installed here; the first group is what is missing. */
const otherModules: readonly (readonly [string, RegExp])[] = [
  ["Ruby", /cannot load such file -- ([\w/-]+)/u],
  ["Perl", /Can't locate ([\w/]+)\.pm in @INC/u],
  ["Lua", /module '([\w./-]+)' not found/u],
  ["R", /there is no package called [‘'"]([\w.]+)[’'"]/u],
  ["PHP", /Class [\\"']*([A-Z]\w*\\[\w\\]+)["']* not found/u],
];

function hintPackage(failure: Failure): string | undefined {
  const { text } = failure;
  const module = pythonModule.exec(text)?.[1];
  if (module !== undefined) return hintPython(failure, module);
  const name = nodeModule.exec(text)?.[1];
  if (name !== undefined) return hintInstall(failure, { name, what: `npm:${name}`, isKnown: isWellKnown("npm", name) });
  for (const [language, pattern] of otherModules) {
    const missing = pattern.exec(text)?.[1];
    if (missing === undefined) continue;
    return `the package ${missing} does not exist inside the sandbox, and Kitbag installs no packages of ${language}: put it into a folder of the skill`;
  }
  return undefined;
}

/** A module of the skill's own is never looked for in an index: anyone can publish a package under its name. */
function hintPython(failure: Failure, module: string): string {
  const [first = module] = module.split(".");
  const own = failure.code.folder?.files.find(
    ({ path }) => path.endsWith(`/${first}.py`) || `/${path}`.includes(`/${first}/`),
  );
  if (own !== undefined) {
    return `the module ${module} is one of the skill's own (${own.path}), and its folder is not among those where Python looks: add that folder to sys.path, or call the skill's other script`;
  }
  const name = findPythonPackage(first, [module]) ?? first;
  return hintInstall(failure, { name, what: name, isKnown: isWellKnown("python", name) });
}

interface Missing {
  readonly name: string;
  readonly what: string;
  readonly isKnown: boolean;
}

function hintInstall({ code }: Failure, { name, what, isKnown }: Missing): string {
  const place = what.startsWith("npm:") ? "package.json" : "requirements.txt, or in a # /// script block";
  const cure = code.skill === undefined ? `name it in ${place}` : `kitbag grant ${code.skill} --package ${what}`;
  if (isKnown) return `the package ${name} does not exist inside the sandbox: ${cure}`;
  return `the package ${name} does not exist inside the sandbox. No package of this name is well known, and anyone can publish one; if you know that it is right: ${cure}`;
}

/** Ways in which interpreters say that a program is not there; the first group is its name. */
const missingPrograms: readonly RegExp[] = [
  /([\w.+-]+): command not found/u,
  /(?:^|\n)(?:[\w/.-]*sh|[\w/.-]+): (?:line )?\d+: ([\w.+-]+): not found/u,
  /env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory/u,
  /_execute_child[\s\S]*FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'/u,
  /spawn(?:Sync)? ([\w.+-]+) ENOENT/u,
  /No such file or directory - ([\w.+-]+) \(Errno::ENOENT\)/u,
  /Can't exec "([\w.+-]+)"/u,
  /error in running command: [‘'"]?([\w.+-]+)/u,
];

function hintProgram(failure: Failure): string | undefined {
  const name = match(missingPrograms, failure.text);
  if (name === undefined) return undefined;
  const isGranted = (failure.tool.permissions.run ?? []).includes(name);
  const isMissing = findProgram(name) === undefined;
  if (isGranted) return isMissing ? `the program ${name} is not on this machine: install it` : undefined;
  const cure = toCure(failure, "run", name);
  return isMissing
    ? `the program ${name} is not on this machine: install it, and then ${cure}`
    : `the program ${name} does not exist inside the sandbox: ${cure}`;
}

/** A path in a message: in quotes it may have blanks. */
const path = String.raw`(?:['"‘\u0060]([^'"’\u0060\n]{1,300})['"’\u0060]|([^\s:'"(),]{1,300}))`;
/** A file that it may only read is mounted, and cannot be replaced by another one: it is busy. */
const refusal = "(?:Read-only file system|Device or resource busy)";
const refusedWrites: readonly RegExp[] = [
  new RegExp(String.raw`${refusal}(?: @ \w+ -|:) ${path}`, "u"),
  new RegExp(String.raw`(?:EROFS|EBUSY): [\w -]+, \w+ ${path}`, "u"),
  new RegExp(String.raw`(?:^|[\s(])${path}[):]*[\w :]*?: (?:Failed to open stream: )?${refusal}`, "mu"),
];

function hintWriting(failure: Failure): string | undefined {
  const { tool, text, directory } = failure;
  if (!/Read-only file system|EROFS|Device or resource busy|EBUSY/u.test(text)) return undefined;
  const { write = [] } = tool.permissions;
  if (write.length > 0) {
    return `it may write only to ${write.join(", ")} and its private folders, and not to shielded files there (skills, .git, .env and others): name the exact path of one to open it: ${toCure(failure, "write", "./path")}`;
  }
  const named = match(refusedWrites, text);
  if (named === undefined || isHiddenPath(named))
    return `it may write only to its private folders: ${toCure(failure, "write", "./out/")}`;
  const place = toScope(dirname(named), directory);
  return `it may write only to its private folders, and not to ${named}: ${toCure(failure, "write", place.endsWith("/") || place === "." ? place : `${place}/`)}`;
}

/** Ways in which programs say that a file is not there. */
const missingFiles: readonly RegExp[] = [
  new RegExp(String.raw`(?:FileNotFoundError|NotADirectoryError): \[Errno \d+\] [\w ]+: ${path}`, "u"),
  new RegExp(String.raw`ENOENT: no such file or directory, \w+ ${path}`, "u"),
  new RegExp(String.raw`No such file or directory @ \w+ - ${path}`, "u"),
  new RegExp(String.raw`\w+\(${path}\): Failed to open (?:stream|directory): No such file or directory`, "u"),
  new RegExp(String.raw`cannot open file ${path}`, "u"),
  new RegExp(
    String.raw`(?:cannot access|cannot open|cannot stat|can't open|Can't open|Cannot open|Could not open) (?:file )?${path}`,
    "u",
  ),
  new RegExp(String.raw`(?:^|: |\s)${path}: No such file or directory`, "mu"),
  new RegExp(
    String.raw`\b(?:file|path|directory|folder|input)\b[\w ]{0,20}(?:not found|does not exist|doesn't exist|missing):? ${path}`,
    "iu",
  ),
  new RegExp(
    String.raw`${path} (?:was |is |could )?(?:not found|not be found|does not exist|doesn't exist|not a (?:file|directory))`,
    "iu",
  ),
];

/** Whether a message of this kind is about a file is sure only if the system said it, or the file is here. */
const said = /No such file or directory|ENOENT|cannot open file/u;

function hintFile(failure: Failure): string | undefined {
  const { text } = failure;
  const named = match(missingFiles, text);
  if (named === undefined || !/^[\p{L}\p{N}_@%+=,./~ ()[\]-]+$/u.test(named)) return undefined;
  const isSaid = said.test(text);
  if (named.startsWith("/skill/") || isHiddenPath(named)) return isSaid ? hintHidden(named) : undefined;
  return hintPlain(failure, named, isSaid);
}

function hintPlain(failure: Failure, named: string, isSaid: boolean): string | undefined {
  const { tool, directory } = failure;
  const scope = toScope(named, directory);
  const isRead = isGranted(tool.permissions.read ?? [], scope);
  const cure = `${tool.files === undefined ? "" : "name it as an argument, or: "}${toCure(failure, "read", scope)}`;
  const target = directory === undefined ? undefined : findInside(directory, named);
  if (target !== undefined && isThere(target))
    return isRead ? undefined : `${named} is in ${directory}, and the script cannot see it: ${cure}`;
  if (!isSaid) return undefined;
  if (target === undefined) return isRead ? undefined : `it cannot see ${named}; if it is there, ${cure}`;
  return `there is no file ${named} in ${directory}${isThere(dirname(target)) ? "" : ", and no folder for it"}`;
}

function hintHidden(named: string): string {
  if (named.startsWith("/skill/")) return `the skill has no file ${named.slice("/skill/".length)}`;
  return `it looks for ${named}, which is hidden from it: read the script before you grant that`;
}

/** Only the folder of the caller is looked into. */
function findInside(directory: string, named: string): string | undefined {
  const target = resolve(directory, named);
  return isInside(target, directory) ? target : undefined;
}

function isThere(target: string): boolean {
  try {
    return lstatSync(target, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // In a folder that this user cannot enter.
    return false;
  }
}

function isGranted(granted: readonly string[], scope: string): boolean {
  return granted.some((one) => isInside(posix.resolve("/", scope), posix.resolve("/", one)));
}

/** A person is not led to grant what has a name of its own for being hidden: `.env`, `.ssh`. */
function isHiddenPath(named: string): boolean {
  return named.split("/").some((step) => /^\.(?!\.?$)/u.test(step));
}

function toScope(named: string, directory: string | undefined): string {
  if (directory !== undefined && isAbsolute(named) && isInside(named, directory))
    return named === directory ? "." : `./${relative(directory, named)}`;
  if (isAbsolute(named) || /^\.{1,2}(?:\/|$)|^~\//u.test(named)) return named;
  return `./${named}`;
}

/** Git says so where it is shown no folder of a repository. */
function hintRepository(failure: Failure): string | undefined {
  const { tool, text, directory } = failure;
  if (!/(?:^|\n)fatal: not a git repository/u.test(text)) return undefined;
  if (isGranted(tool.permissions.read ?? [], "."))
    return "there is no git repository in the folders that the script may read";
  if (directory !== undefined && !isThere(resolve(directory, ".git")))
    return `there is no git repository in ${directory}`;
  return `git sees no repository, because the script may not read this folder: ${toCure(failure, "read", ".")}`;
}

function hintVariable(failure: Failure): string | undefined {
  const { code, tool, text } = failure;
  const name =
    code.environment.find((variable) => new RegExp(String.raw`(?<!\w)${variable}(?!\w)`, "u").test(text)) ??
    match(missingVariables, text);
  if (name === undefined) return undefined;
  return (tool.permissions.env ?? []).includes(name)
    ? `the environment variable ${name} has no value: set it, or write it into $KITBAG_HOME/secrets.env (~/.kitbag) as ${name}=value`
    : `it may not see the environment variable ${name}: ${toCure(failure, "env", name)}`;
}

/** Names of variables that the text of the script does not show. */
const missingVariables: readonly RegExp[] = [
  /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+): (?:unbound variable|parameter (?:not set|null or not set))/u,
  /KeyError: '([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/u,
  /key not found: "([A-Z][A-Z0-9]*_[A-Z0-9_]+)"/u,
  /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[\w ]{0,30}(?:not set|unset|not defined|not found|required|missing|must be set)/u,
  /\b(?:set|missing|provide|export|requires?|need)\b[\w :]{0,30}\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/iu,
];

const noNetwork =
  /Temporary failure in name resolution|Name or service not known|EAI_AGAIN|ENOTFOUND|Network is unreachable|ENETUNREACH|Could not resolve host|getaddrinfo|nodename nor servname|cannot open URL/u;
const host = String.raw`((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})`;
const unreached: readonly RegExp[] = [
  new RegExp(String.raw`(?:ENOTFOUND|EAI_AGAIN|resolve host:?|host=')['" ]*${host}`, "iu"),
  new RegExp(String.raw`(?:connection to|connect to|getaddrinfo for|getaddrinfo\w*\(?)[ '"]*${host}`, "iu"),
  new RegExp(String.raw`https?://${host}`, "iu"),
];

function hintNetwork(failure: Failure): string | undefined {
  const { tool, text } = failure;
  if (!noNetwork.test(text) || (tool.permissions.network ?? []).length > 0) return undefined;
  const name = match(unreached, text);
  if (name !== undefined) return `it may not reach the network, and wants ${name}: ${toCure(failure, "network", name)}`;
  return `it may not reach the network; grant it the hosts: ${toCure(failure, "network", "host.example:443")}`;
}

/** Shells say so when they did not find a program, even where the script hides their message. */
function hintNotFound(failure: Failure): string {
  return `exit code 127 means that a program was not found: ${toCure(failure, "run", "its-name")}`;
}

/** In this order: what a program lacks first is what the others follow from. */
const finders = [
  hintReplaced,
  hintPackage,
  hintProgram,
  hintWriting,
  hintNetwork,
  hintRepository,
  hintFile,
  hintVariable,
] as const;
