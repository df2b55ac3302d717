import { lstatSync, statSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import type { FileNamer, FileUse, NamedFile } from "../../core/call-files.ts";
import { KitbagError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { findGrants, findOpened, isNeverGiven, type GrantPlaces } from "../../sandbox/grants.ts";
import { findShieldsAround } from "../../sandbox/shields.ts";

/** The maximum number of files that one call may name. */
const mostFiles = 1000;
const longestName = 4096;

const handleGrammar = /^output:sha256:[0-9a-f]{64}$/u;
/** Streams of the program itself, and addresses. */
const noFile = /^$|^-$|^\/dev\/(?:stdin|stdout|stderr|null|fd\/\d+)$|^[A-Za-z][A-Za-z0-9+.-]+:\/\/|^data:|[\0\n\r]/u;

/**
 * Finds the files that an input names. Of a `model` and one who is `remote` only parameters that are known to take files count. Of a
 * `person` any text counts that is the path of a file that exists, or of one to be made in a folder that exists.
 *
 * @throws {KitbagError} `file-denied` for a file that this caller may not name, and for a named pipe, a socket or a device.
 */
export function findFiles(tool: Tool, input: unknown, by: FileNamer, places: GrantPlaces): readonly NamedFile[] {
  if (!isRecord(input)) return [];
  const found: NamedFile[] = [];
  for (const [parameter, value] of Object.entries(input)) {
    const use = tool.files?.[parameter];
    if (use === undefined && by !== "person") continue;
    for (const { at, name } of listTexts(value, [parameter])) {
      const named = findFile({ tool, by, places, at, name, use });
      if (named === undefined) continue;
      if (found.length === mostFiles)
        throw refuse(tool, name, `a call names at most ${mostFiles} files; name their folder`);
      found.push(named);
    }
  }
  return found;
}

interface Text {
  readonly at: readonly (string | number)[];
  readonly name: string;
}

/** A text, or those of a list. */
function listTexts(value: unknown, at: Text["at"]): readonly Text[] {
  if (typeof value === "string") return noFile.test(value) || value.length > longestName ? [] : [{ at, name: value }];
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index) => (typeof item === "string" ? listTexts(item, [...at, index]) : []));
}

interface Asked extends Text {
  readonly tool: Tool;
  readonly by: FileNamer;
  readonly places: GrantPlaces;
  /** Not set if the parameter is not known to take files. */
  readonly use: FileUse | undefined;
}

function findFile(asked: Asked): NamedFile | undefined {
  const { tool, by, places, at, name, use } = asked;
  if (handleGrammar.test(name))
    return use === "write" ? undefined : { at, name, handle: name, use: "read", kind: "file" };
  const path = toRealPath(resolvePath(name, places));
  // What its permissions open is there for the tool anyway.
  if (isGranted(tool, path, { use: use ?? "read", places })) return undefined;
  if (by === "remote") {
    const isOutput = use === "write" && !isAbsolute(name) && !leavesFolder(name);
    return isOutput ? { at, name, use, kind: "nothing" } : undefined;
  }
  if (use === undefined) return guessFile(asked, path);
  const reason = by === "model" ? refuseModel(path, use, places) : refusePerson(path, use, places);
  if (reason !== undefined) throw refuse(tool, name, reason);
  return lookAt(asked, path, use);
}

/** Names of parameters that take files or folders. */
const saysPath =
  /(?:^|[^a-z])(?:files?|paths?|dirs?|director(?:y|ies)|folders?|inputs?|outputs?|out|sources?|src|dest)(?:$|[^a-z])/iu;

/** Names of those that are for what a tool makes. */
const saysOutput = /(?:^|[^a-z])(?:o|out|outputs?|outfile|dest|destination|save|target)(?:$|[^a-z])/iu;

/** A text of a person in a parameter that is not known to take files. What it is not, the tool itself says best. */
function guessFile(asked: Asked, path: string): NamedFile | undefined {
  const { tool, name, places, at } = asked;
  const parameter = String(at[0]);
  const isOutput = saysOutput.test(parameter);
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!isPlausible({ name, parameter, keepsNames: keepsNames(tool) }, path, facts)) return undefined;
  const use = facts === undefined || isOutput ? "write" : "read";
  return refusePerson(path, use, places) === undefined ? lookAt(asked, path, use) : undefined;
}

/** Whether relative names reach the script as they are, because it starts in its private folder; else a word would be replaced. */
function keepsNames({ permissions: { read = [], write = [] } }: Tool): boolean {
  return read.length + write.length === 0;
}

interface Guess {
  readonly name: string;
  readonly parameter: string;
  readonly keepsNames: boolean;
}

/** A file that exists; a folder, or a file to be made in one, only if the text looks like a path. */
function isPlausible({ name, parameter, keepsNames: keeps }: Guess, path: string, facts: Stats | undefined): boolean {
  const isPath = name.includes("/") || saysPath.test(parameter);
  const looksLikePath = isPath || /^\.{1,2}$|\.\w+$/u.test(name);
  if (facts?.isFile() === true) return keeps || looksLikePath;
  if (facts !== undefined) return facts.isDirectory() && looksLikePath;
  const isNamed = keeps ? looksLikePath : name.includes("/") || saysOutput.test(parameter);
  return isNamed && dirname(path) !== "/" && isFolder(dirname(path));
}

function lookAt({ tool, at, name, places }: Asked, path: string, use: FileUse): NamedFile | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts !== undefined) return { at, name, path, use, kind: kindOf(tool, name, facts) };
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw refuse(tool, name, "it is a link that leads nowhere");
  // The tool says best that there is nothing to read.
  if (use === "read") return undefined;
  const folder = dirname(path);
  if (!isFolder(folder)) {
    const shown = relative(places.directory, folder) || folder;
    throw refuse(tool, name, `there is no folder ${JSON.stringify(shown)} to make it in; make that folder first`);
  }
  return { at, name, path, use, kind: "nothing" };
}

function kindOf(tool: Tool, name: string, facts: Stats): "file" | "folder" {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  const what = facts.isFIFO() ? "a named pipe" : facts.isSocket() ? "a socket" : "a device";
  throw refuse(tool, name, `it is ${what}; only ordinary files and folders can be given`);
}

function refusePerson(path: string, use: FileUse, places: GrantPlaces): string | undefined {
  if (isNeverGiven(use, path)) return "a tool that could use this could leave its sandbox";
  const shields = findOpened({ kind: use }, path, places);
  if (shields.length === 0) return undefined;
  return `it is shielded: no tool may ${use} it unless a permission of its skill names exactly this path`;
}

function refuseModel(path: string, use: FileUse, places: GrantPlaces): string | undefined {
  const folder = toRealPath(places.directory);
  if (!isInside(path, folder))
    return `it is outside the folder of the workspace, ${folder}, and only a person can name such a file`;
  const isDotFile = relative(folder, path)
    .split(sep)
    .some((part) => part.startsWith("."));
  const shields = findShieldsAround(path, places).filter(({ hidden, own }) => hidden || own || use === "write");
  if (isDotFile || shields.length > 0) return "it is hidden or shielded, and a model never names such a file";
  return isNeverGiven(use, path) ? "a tool that could use this could leave its sandbox" : undefined;
}

/** Whether the tool's own permissions open a path, so that nothing has to be given to it. */
function isGranted(tool: Tool, path: string, { use, places }: { use: FileUse; places: GrantPlaces }): boolean {
  const { read = [], write = [] } = tool.permissions;
  if (read.length + write.length === 0) return false;
  const around = findGrants(tool.name, tool.permissions, places)
    .mounts.map((mount) => ({ ...mount, place: mount.shields ?? mount.source }))
    .filter(({ place }) => isInside(path, place));
  const [innermost] = around.toSorted((one, other) => other.place.length - one.place.length);
  return innermost?.granted === true && (use === "read" || innermost.write === true);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Where a name leads, before links are resolved. */
function resolvePath(name: string, { directory, home = homedir() }: GrantPlaces): string {
  return name === "~" || name.startsWith("~/") ? join(home, name.slice(1)) : resolve(directory, name);
}

/** Whether a relative name leads out of the folder where it begins. */
export function leavesFolder(name: string): boolean {
  return !isInside(resolve("/a", name), "/a") || basename(name) === "";
}

function refuse(tool: Tool, file: string, reason: string): KitbagError<"file-denied"> {
  return new KitbagError("file-denied", { tool: tool.name, file, reason });
}
