import type { JsonObject } from "../../core/json.ts";
import { checkPermissions, type Permissions } from "../../core/permissions.ts";
import { joinGrants, parseGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { isDigest } from "../../platform/digest.ts";
import { isInnerPath, type Digests } from "./trust-format.ts";

/** What was granted to a skill, in exactly one state. */
export interface LockedSkill {
  readonly name: string;
  readonly version?: string;
  /** What its own files ask for. */
  readonly permissions: Permissions;
  /**
   * What a person of this project granted it from outside. It is a proposal for everyone else: only what a user agreed to counts,
   * see `SkillTrust`. Empty if all was taken back. @default the project says nothing about it
   */
  readonly granted?: SkillGrant;
  /** The signatures of its tools, by name. */
  readonly tools: ReadonlyMap<string, string>;
  /** The tools of other skills that it uses, as they were, by address. */
  readonly uses: ReadonlyMap<string, LockedUse>;
  /** Digests by the path in the folder. */
  readonly files: Digests;
  /** Where it was fetched from; none if it was made here. */
  readonly source?: LockedSource;
}

/** Where a skill was fetched from, and which state of that it is. Never holds a password. */
export interface LockedSource {
  readonly kind: "git" | "archive" | "folder" | "npm";
  /** The address of the repository or the archive, the path relative to the lock, or the name of the package. */
  readonly address: string;
  /** The branch, the tag or the commit that was asked for; of a package the version or the tag. */
  readonly ref?: string;
  /** Of a repository: the commit that it was. */
  readonly commit?: string;
  /** Of a package: the version that it was. */
  readonly version?: string;
  /** Of what was downloaded. */
  readonly integrity?: string;
  /** Where the skill is in it, with `/`. */
  readonly folder?: string;
}

/** A tool of another skill as it was when the skill that uses it was locked. */
export interface LockedUse {
  readonly version?: string;
  readonly signature: string;
}

/** What another MCP server offered when the user agreed to it. */
export interface LockedServer {
  /** The digests of its tools' definitions, by the names that it gives them. */
  readonly tools: Digests;
  /** The digests of what it says about its skills, by address. */
  readonly skills: Digests;
  /** Tools that cannot be used here, as they were shown: who knows of them need not be told again. @default no entries */
  readonly leftOut?: Digests;
  /** What of it MCP clients of Kitbag may read, beside its tools. What it says there is not pinned. @default nothing */
  readonly shares?: readonly McpShare[];
}

/** What clients can read of another MCP server. */
export type McpShare = "prompts" | "resources";

const knownShares: readonly unknown[] = ["prompts", "resources"] satisfies McpShare[];

/** `kitbag.lock`: the skills of a project by where they are, relative to the lock and with `/`. */
export interface Lock extends Map<string, LockedSkill> {
  /** Other MCP servers, by name; those of a skill as `skill/server`. @default no entries */
  servers?: Map<string, LockedServer>;
}

/**
 * Writes a lock: sorted, one fact a line, nothing that is computed from other lines. So the same grants are the same bytes, and
 * changes of two people merge like any text.
 */
export function renderLock(lock: Lock): string {
  const skills = toObject(lock, ({ name, version, permissions, granted, tools, uses, files, source }) => ({
    name,
    ...(version !== undefined && { version }),
    ...(source !== undefined && { source: renderSource(source) }),
    permissions: toObject(new Map(Object.entries(permissions)), (value: string | readonly string[]) =>
      typeof value === "string" ? value : value.toSorted(),
    ),
    ...(granted !== undefined && { granted: { ...joinGrants([granted]) } }),
    tools: toObject(tools, (signature) => signature),
    uses: toObject(uses, ({ version, signature }) => ({ ...(version !== undefined && { version }), signature })),
    files: toObject(files, (digest) => digest),
  }));
  const servers = toObject(lock.servers ?? new Map<string, LockedServer>(), (server) => ({
    tools: toObject(server.tools, (digest) => digest),
    skills: toObject(server.skills, (digest) => digest),
    ...(server.leftOut !== undefined && { leftOut: toObject(server.leftOut, (digest) => digest) }),
    ...(server.shares !== undefined && { shares: server.shares.toSorted() }),
  }));
  const more = Object.keys(servers).length === 0 ? {} : { servers };
  return `${JSON.stringify({ version: 1, skills, ...more }, null, 2)}\n`;
}

const sourceFacts = ["kind", "address", "ref", "commit", "version", "integrity", "folder"] as const;

/** Always in the same order. */
function renderSource(source: LockedSource): JsonObject {
  return Object.fromEntries(sourceFacts.flatMap((fact) => (source[fact] === undefined ? [] : [[fact, source[fact]]])));
}

function toObject<Value>(map: ReadonlyMap<string, Value>, convert: (value: Value) => JsonObject[string]): JsonObject {
  const pairs = [...map].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(pairs.map(([key, value]) => [key, convert(value)]));
}

/** Reads what {@link renderLock} wrote. Throws an `Error` for anything else: a lock that cannot be read grants nothing. */
export function parseLock(text: string): Lock {
  const marker = text.split("\n").findIndex((line) => /^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)/u.test(line));
  if (marker >= 0)
    throw new Error(`it has the conflict marker of a merge on line ${marker + 1}; resolve the merge first`);
  const content = JSON.parse(text) as { version?: unknown; skills?: unknown; servers?: unknown } | null;
  if (content?.version !== 1)
    throw new Error(`it has version ${JSON.stringify(content?.version)}, and this program knows 1`);
  refuseRepeated(text, content);
  const lock: Lock = toMap(content.skills, "skills", isPlace, parseSkill);
  if (content.servers !== undefined) lock.servers = toMap(content.servers, "servers", isText, parseServer);
  return lock;
}

function parseServer(value: unknown, path: string): LockedServer {
  const { tools, skills, leftOut, shares } = asRecord(value, path);
  return {
    tools: toMap(tools, `${path}: tools`, isText, parseDigest),
    skills: toMap(skills, `${path}: skills`, isText, parseDigest),
    ...(leftOut !== undefined && { leftOut: toMap(leftOut, `${path}: leftOut`, isText, parseDigest) }),
    ...(shares !== undefined && { shares: parseShares(shares, `${path}: shares`) }),
  };
}

function parseShares(value: unknown, place: string): readonly McpShare[] {
  if (Array.isArray(value) && value.every((share) => knownShares.includes(share))) return value as McpShare[];
  throw new Error(`the entry ${place} is not a list of "prompts" and "resources"`);
}

/** A merge can leave one key twice, with two values; JSON takes the last one silently. */
function refuseRepeated(text: string, content: unknown): void {
  const bare = text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/gu, "$1");
  if (bare.length !== JSON.stringify(content).length)
    throw new Error("it has a key twice, or was not written by Kitbag");
}

function parseSkill(value: unknown, path: string): LockedSkill {
  const { name, version, permissions, granted, tools, uses, files, source } = asRecord(value, path);
  const [problem] = checkPermissions(permissions);
  if (typeof name !== "string" || !isVersion(version))
    throw new Error(`the entry ${path} has no name or a wrong version`);
  if (problem !== undefined) throw new Error(`the entry ${path} has wrong permissions: ${problem.path}`);
  return {
    name,
    ...(version !== undefined && { version }),
    permissions: permissions as Permissions,
    ...(granted !== undefined && { granted: parseGrant(granted, path) }),
    tools: toMap(tools, `${path}: tools`, isText, parseDigest),
    uses: toMap(uses, `${path}: uses`, isText, parseUse),
    files: toMap(files, `${path}: files`, isInnerPath, parseDigest),
    ...(source !== undefined && { source: parseSource(source, `${path}: source`) }),
  };
}

const sourceKinds: readonly unknown[] = ["git", "archive", "folder", "npm"] satisfies LockedSource["kind"][];

/** A source decides what an update fetches: only what this program wrote is one. */
function parseSource(value: unknown, place: string): LockedSource {
  const source = asRecord(value, place);
  const isWrong = (fact: string): boolean =>
    !sourceFacts.some((known) => known === fact) || typeof source[fact] !== "string" || source[fact] === "";
  const { kind, address, folder } = source;
  if (Object.keys(source).some(isWrong) || !sourceKinds.includes(kind) || address === undefined)
    throw new Error(`the entry ${place} is not a source`);
  if (folder !== undefined && !isInnerPath(folder)) throw new Error(`the entry ${place} has a folder that leads out`);
  return source as unknown as LockedSource;
}

function parseUse(value: unknown, place: string): LockedUse {
  const { version, signature } = asRecord(value, place);
  if (!isVersion(version)) throw new Error(`the entry ${place} has a wrong version`);
  return { ...(version !== undefined && { version }), signature: parseDigest(signature, place) };
}

function parseDigest(value: unknown, place: string): string {
  if (isDigest(value)) return value;
  throw new Error(`the entry ${place} is not a digest`);
}

function toMap<Value>(
  value: unknown,
  place: string,
  isKey: (key: string) => boolean,
  parse: (value: unknown, place: string) => Value,
): Map<string, Value> {
  const pairs = Object.entries(asRecord(value, place)).map(([key, inner]): [string, Value] => {
    if (!isKey(key)) throw new Error(`the entry ${place}: ${JSON.stringify(key)} does not belong there`);
    return [key, parse(inner, `${place}: ${key}`)];
  });
  return new Map(pairs);
}

function asRecord(value: unknown, place: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`the entry ${place} is missing or not complete`);
}

/** The folder of the lock itself may be a skill. */
function isPlace(key: string): boolean {
  return key === "." || isInnerPath(key);
}

function isText(key: string): boolean {
  return key !== "";
}

function isVersion(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
