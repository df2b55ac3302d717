import type { JsonValue } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";

/** What was granted to a skill, in exactly one state. */
export interface LockedSkill {
  /** Where it was, relative to the lock file, with `/`. */
  readonly path: string;
  readonly digest: string;
  /** Digests by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly permissions: Permissions;
}

/** `kitbag.lock`: the skills of a project by name. */
export type Lock = ReadonlyMap<string, LockedSkill>;

const digestForm = /^sha256:[0-9a-f]{64}$/u;

/**
 * Writes a lock: sorted, one fact a line, so that two people's changes merge like any text and the same grants are the same
 * bytes.
 */
export function renderLock(lock: Lock): string {
  const skills = Object.fromEntries(sorted(lock).map(([name, skill]) => [name, toOrder(skill)]));
  return `${JSON.stringify({ version: 1, skills }, null, 2)}\n`;
}

function toOrder({ path, digest, files, permissions }: LockedSkill): JsonValue {
  const lists = Object.entries(permissions).map(([kind, list]): [string, JsonValue] => [
    kind,
    [...(list as readonly string[])].toSorted(),
  ]);
  return {
    path,
    digest,
    permissions: Object.fromEntries(sorted(new Map(lists))),
    files: Object.fromEntries(sorted(new Map(Object.entries(files)))),
  };
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Reads what {@link renderLock} wrote. Throws an `Error` for anything else: a lock that cannot be read grants nothing. */
export function parseLock(text: string): Lock {
  const content = JSON.parse(text) as { version?: unknown; skills?: unknown } | null;
  if (content?.version !== 1)
    throw new Error(`it has version ${JSON.stringify(content?.version)}, and this program knows 1`);
  if (!isRecord(content.skills)) throw new Error("it lists no skills");
  return new Map(Object.entries(content.skills).map(([name, skill]) => [name, parseSkill(name, skill)]));
}

function parseSkill(name: string, value: unknown): LockedSkill {
  if (!isRecord(value)) throw new Error(`"${name}" is not a skill`);
  const { path, digest, files, permissions } = value;
  const isRight =
    typeof path === "string" &&
    isDigest(digest) &&
    isRecord(files) &&
    Object.values(files).every(isDigest) &&
    isRecord(permissions) &&
    Object.values(permissions).every((list) => Array.isArray(list) && list.every((item) => typeof item === "string"));
  if (!isRight) throw new Error(`the entry of "${name}" is not complete`);
  return value as unknown as LockedSkill;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && digestForm.test(value);
}
