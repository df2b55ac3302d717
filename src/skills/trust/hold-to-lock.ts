import semver from "semver";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { permissionKinds, scopesOf, type Permissions } from "../../core/permissions.ts";
import type { Skill, SkillFolder, SkillTrust, ToolUse } from "../../core/skill.ts";
import { describeGrant, isEmptyGrant, withoutGrant } from "../../core/skill-grant.ts";
import { showPath } from "../../platform/paths.ts";
import { describeChanges } from "./describe-changes.ts";
import { toDigests } from "./folder-trust.ts";
import type { LockedSkill, LockedUse } from "./lock-format.ts";

/** A skill held against its entry in a lock. */
export interface HeldSkill {
  /** The tools that it uses must have the signatures they had when it was locked. */
  readonly skill: Skill;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Holds a skill against what is locked. A lock only pins: it comes with the project, so it never makes anything trusted. Whether
 * changed files may run is decided before a skill is made of them; here it is said, and permissions are compared.
 *
 * @param findVersion the version of a tool that is there now, by address.
 */
export function holdToLock(
  skill: Skill & { readonly folder: SkillFolder },
  locked: LockedSkill,
  findVersion: (address: string) => string | undefined,
): HeldSkill {
  const { folder, declared = skill.permissions } = skill;
  const changed = describeChanges(locked.files, toDigests(folder.files));
  if (changed.length > 0) {
    const wider = describeNew(locked.permissions, declared);
    return { skill: withNew(skill, wider), diagnostics: [lockChanged(folder.directory, [...wider, ...changed])] };
  }
  // The same files can ask for other permissions only if the lock was edited, or if they are read in another way now.
  if (!isSameGrant(locked.permissions, declared)) {
    const trust: SkillTrust = { status: "untrusted", changed: ["permissions (changed)"] };
    return {
      skill: { ...skill, folder: { ...folder, trust } },
      diagnostics: [lockChanged(folder.directory, trust.changed)],
    };
  }
  const uses = skill.uses.map((use) => pinUse(use, locked.uses.get(use.address), findVersion(use.address)));
  return {
    skill: uses.every((use, index) => use === skill.uses[index]) ? skill : { ...skill, uses },
    diagnostics: describeProposed(folder, locked),
  };
}

/** Says what the project's lock grants to a skill that this person has not agreed to: it counts only then. */
function describeProposed({ directory, trust }: SkillFolder, { granted = {} }: LockedSkill): Diagnostic[] {
  const proposed = withoutGrant(granted, (trust.status === "trusted" && trust.granted) || {});
  if (isEmptyGrant(proposed)) return [];
  const message = `Does not have what kitbag.lock grants it, because you have not agreed: ${describeGrant(proposed)}`;
  const cure = `to grant it, run: kitbag trust ${showPath(directory)}`;
  return [{ severity: "info", code: "grant-proposed", message, file: "kitbag.lock", cure }];
}

/** Says which permissions a skill did not have when it was locked: `new: network api.example.com`. */
export function describeNew(locked: Permissions, declared: Permissions): string[] {
  return permissionKinds.flatMap((kind) => {
    const before = scopesOf(locked, kind);
    return scopesOf(declared, kind).flatMap((scope) => (before.includes(scope) ? [] : [`new: ${kind} ${scope}`]));
  });
}

/** New permissions are named before the files that changed. */
function withNew(skill: Skill & { readonly folder: SkillFolder }, wider: readonly string[]): Skill {
  const { folder } = skill;
  if (folder.trust.status === "trusted" || folder.trust.changed.length === 0 || wider.length === 0) return skill;
  const trust = { ...folder.trust, changed: [...wider, ...folder.trust.changed] };
  return { ...skill, folder: { ...folder, trust } };
}

function isSameGrant(locked: Permissions, declared: Permissions): boolean {
  return permissionKinds.every((kind) => toText(scopesOf(locked, kind)) === toText(scopesOf(declared, kind)));
}

function toText(list: readonly string[]): string {
  return JSON.stringify(list.toSorted());
}

const mostNamed = 8;

function lockChanged(directory: string, changed: readonly string[]): Diagnostic {
  const more = changed.length > mostNamed ? `, and ${changed.length - mostNamed} more` : "";
  const message = `Is not what kitbag.lock pins: ${changed.slice(0, mostNamed).join(", ")}${more}`;
  const cure = `read the change, then run: kitbag trust ${showPath(directory)}`;
  return { severity: "warning", code: "lock-changed", message, file: "kitbag.lock", cure };
}

/** A new major version may have another signature: that is what its number says. */
function pinUse(use: ToolUse, locked: LockedUse | undefined, version: string | undefined): ToolUse {
  if (locked === undefined || use.signature !== undefined || isNewMajor(locked.version, version)) return use;
  return { ...use, signature: locked.signature };
}

function isNewMajor(before: string | undefined, after: string | undefined): boolean {
  const [old, current] = [semver.parse(before), semver.parse(after)];
  return old !== null && current !== null && majorOf(old) !== majorOf(current);
}

/** Before 1.0 the second number counts as the first one. */
function majorOf({ major, minor }: semver.SemVer): string {
  return major === 0 ? `0.${minor}` : String(major);
}
