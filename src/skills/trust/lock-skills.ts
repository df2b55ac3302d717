import { realpathSync } from "node:fs";
import { dirname, relative, sep } from "node:path";

import type { Skill, SkillFolder } from "../../core/skill.ts";
import { isEmptyGrant, joinGrants, type SkillGrant } from "../../core/skill-grant.ts";
import type { Tool } from "../../core/tool.ts";
import { isInside } from "../../platform/paths.ts";
import { toDigests } from "./folder-trust.ts";
import { updateLock } from "./lock-file.ts";
import type { Lock, LockedSkill, LockedSource, LockedUse } from "./lock-format.ts";
import { toolSignature } from "./tool-signature.ts";

/** Something that may be a skill: a report of one that could not be read has none. */
export interface MaybeSkill {
  readonly skill?: Skill;
}

/** What is known besides the locked skills. */
export interface LockOptions {
  /** The other skills of the project. */
  readonly others?: readonly MaybeSkill[];
  /** Where skills were fetched from, by directory. @default as the lock says */
  readonly sources?: ReadonlyMap<string, LockedSource>;
  /** What this person grants from outside, by directory, besides what the lock says. @default nothing more */
  readonly grants?: ReadonlyMap<string, SkillGrant>;
}

/**
 * Writes down what is granted to skills, each in the state it has now: its permissions, its files, the signatures of its tools
 * and of the tools of other skills that it uses. Only what is below the lock's folder is locked; answers with the places of these.
 *
 * @throws {KitbagError} `config-invalid` if the lock is wrong or cannot be written.
 */
export async function lockSkills(
  reports: readonly MaybeSkill[],
  lockPath: string,
  { others = [], sources = new Map(), grants = new Map() }: LockOptions = {},
): Promise<string[]> {
  const known = [...reports, ...others].flatMap(({ skill }) => skill ?? []);
  const placeOf = createLockPlaces(lockPath);
  const places: string[] = [];
  await updateLock(lockPath, (lock) => {
    for (const { skill } of reports) {
      const place = skill?.folder && placeOf(skill.folder.directory);
      if (skill?.folder === undefined || place === undefined) continue;
      const before = lock.get(place);
      const fetched = sources.get(skill.folder.directory);
      const source = fetched ?? before?.source;
      const granted = joinProposed(findProposed(before, fetched), grants.get(skill.folder.directory));
      const locked = toLocked(skill, skill.folder, (address) => findUse(address, known, lock));
      lock.set(place, { ...locked, ...(granted && { granted }), ...(source && { source }) });
      places.push(place);
    }
  });
  return places;
}

/** What was granted to something else that was in the same place is not a proposal for this. */
function findProposed(before: LockedSkill | undefined, fetched: LockedSource | undefined): SkillGrant | undefined {
  return fetched === undefined || isSameSource(fetched, before?.source) ? before?.granted : undefined;
}

/** What others granted stays until it is taken back. Where nothing was ever granted, the lock says nothing about it. */
function joinProposed(before: SkillGrant | undefined, granted: SkillGrant = {}): SkillGrant | undefined {
  return before === undefined && isEmptyGrant(granted) ? undefined : joinGrants([before ?? {}, granted]);
}

/** Tells whether two states come from the same place, whichever version of it. */
export function isSameSource(one: LockedSource, other: LockedSource | undefined): boolean {
  const facts = ["kind", "address", "folder"] as const;
  return other !== undefined && facts.every((fact) => one[fact] === other[fact]);
}

/** Makes the function that says where a folder, by its real path, is in a lock; nowhere if it is not below the lock. */
export function createLockPlaces(lockPath: string): (directory: string) => string | undefined {
  const base = realpathSync.native(dirname(lockPath));
  return (directory) => {
    if (directory === base) return ".";
    return isInside(directory, base) ? relative(base, directory).split(sep).join("/") : undefined;
  };
}

function toLocked(
  { name, version, permissions, declared = permissions, tools, uses }: Skill,
  { files }: SkillFolder,
  find: (address: string) => LockedUse | undefined,
): LockedSkill {
  const found = uses.map(({ address }) => [address, find(address)] as const);
  return {
    name,
    ...(version !== undefined && { version }),
    permissions: declared,
    tools: new Map(tools.map((tool) => [tool.name, toolSignature(tool)])),
    uses: new Map(found.flatMap(([address, use]) => (use === undefined ? [] : [[address, use]]))),
    files: toDigests(files),
  };
}

/** What is behind an address: of a skill that is there, or else of one that is locked. */
function findUse(address: string, known: readonly Skill[], lock: Lock): LockedUse | undefined {
  const [owner, name = ""] = address.split("/", 2);
  const skill = known.find((one) => one.name === owner);
  const tool = skill?.tools.find((one) => one.name === name);
  if (skill !== undefined && tool !== undefined) return toUse(skill, tool);
  const locked = lock.values().find((one) => one.name === owner);
  const signature = locked?.tools.get(name);
  if (locked === undefined || signature === undefined) return undefined;
  return { ...(locked.version !== undefined && { version: locked.version }), signature };
}

function toUse(skill: Skill, tool: Tool): LockedUse {
  const version = tool.version ?? skill.version;
  return { ...(version !== undefined && { version }), signature: toolSignature(tool) };
}
