import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Skill, SkillFolder, SkillTrust } from "../../core/skill.ts";
import { sharedGrant } from "../../core/skill-grant.ts";
import { describeChanges } from "../trust/describe-changes.ts";
import { toDigests, type FolderTrust } from "../trust/folder-trust.ts";
import { holdToLock } from "../trust/hold-to-lock.ts";
import type { LockReader } from "../trust/lock-file.ts";
import type { Lock, LockedSkill } from "../trust/lock-format.ts";
import { createLockPlaces } from "../trust/lock-skills.ts";
import type { SkillReport } from "./skill-report.ts";

/** What the list of trusted folders and the lock say, for one load. */
export interface Judge {
  trust(folder: Omit<SkillFolder, "trust">): SkillTrust;
  /** Holds skills against the lock. Those that it says nothing about stay the same objects. */
  pin(reports: readonly SkillReport[]): readonly SkillReport[];
  /** What could not be read, once each. */
  diagnostics(): readonly Diagnostic[];
}

/** Makes a judge. What cannot be read makes nothing run that needs it. */
export function createJudge(options: { readonly trust?: FolderTrust; readonly lock?: LockReader }): Judge {
  const { trust = trustByScope, lock: reader } = options;
  const failures = new Map<string, Diagnostic>();

  function attempt<Value>(code: string, file: string, work: () => Value): Value | undefined {
    try {
      return work();
    } catch (cause) {
      if (!isKitbagError(cause)) throw cause;
      failures.set(code, { severity: "error", code, message: cause.message, file });
      return undefined;
    }
  }

  const lock = reader && attempt("lock-invalid", reader.path, () => reader.read());
  const findLocked = reader === undefined || lock === undefined ? () => undefined : createLookup(reader.path, lock);

  return {
    trust(folder) {
      // The lock belongs to the project; what a user installed has nothing to do with it.
      if (reader !== undefined && lock === undefined && folder.scope !== "user") return untrusted;
      const locked = findLocked(folder.directory);
      const changed = locked === undefined ? [] : describeChanges(locked.files, toDigests(folder.files));
      // What is not as the lock pins it runs only if this person trusted exactly that, however the folder was named.
      const judged = changed.length === 0 ? folder : { ...folder, scope: "project" as const };
      const verdict = attempt("trust-invalid", "trust.json", () => trust(judged)) ?? untrusted;
      if (verdict.status === "trusted") return limitGrant(verdict, locked);
      const wasNeverTrusted = verdict.changed.length === 0 && verdict.removed === undefined;
      return wasNeverTrusted && folder.scope !== "project" ? { ...verdict, changed } : verdict;
    },
    pin: (reports) => (reader === undefined || lock === undefined ? reports : pinAll(reports, reader.path, lock)),
    diagnostics: () => [...failures.values()],
  };
}

const untrusted: SkillTrust = { status: "untrusted", changed: [] };

/** A skill that came with a clone is not one that the user installed or named; and code that runs with all rights must be named. */
function trustByScope({ scope, code }: Omit<SkillFolder, "trust">): SkillTrust {
  return scope === "given" || (scope === "user" && code === undefined) ? { status: "trusted" } : untrusted;
}

/** Makes the function that finds what a lock pins in a folder. */
function createLookup(lockPath: string, lock: Lock): (directory: string) => LockedSkill | undefined {
  if (lock.size === 0) return () => undefined;
  const placeOf = createLockPlaces(lockPath);
  return (directory) => lock.get(placeOf(directory) ?? "");
}

/** What this person granted counts as far as the project's lock still says it, too: others may have taken some of it back. */
function limitGrant(trust: SkillTrust & { readonly status: "trusted" }, locked: LockedSkill | undefined): SkillTrust {
  if (trust.granted === undefined || locked?.granted === undefined) return trust;
  return { ...trust, granted: sharedGrant(trust.granted, locked.granted) };
}

function pinAll(reports: readonly SkillReport[], lockPath: string, lock: Lock): readonly SkillReport[] {
  if (lock.size === 0) return reports;
  const placeOf = createLockPlaces(lockPath);
  const byName = new Map(reports.flatMap(({ skill }) => (skill === undefined ? [] : [[skill.name, skill] as const])));
  const findVersion = (address: string): string | undefined => {
    const [owner = "", name] = address.split("/", 2);
    const skill = byName.get(owner);
    return skill?.tools.find((tool) => tool.name === name)?.version ?? skill?.version;
  };
  return reports.map((report) => {
    const locked = report.skill?.folder && lock.get(placeOf(report.skill.folder.directory) ?? "");
    return locked === undefined ? report : pinOne(report, locked, findVersion);
  });
}

/** The last answers, so that a skill that did not change stays the same object. */
const pinned = new WeakMap<SkillReport, { readonly key: string; readonly locked: LockedSkill; report: SkillReport }>();

function pinOne(
  report: SkillReport,
  locked: LockedSkill,
  findVersion: (address: string) => string | undefined,
): SkillReport {
  const skill = report.skill as Skill & { readonly folder: SkillFolder };
  const key = JSON.stringify(skill.uses.map((use) => findVersion(use.address) ?? ""));
  const known = pinned.get(report);
  if (known?.key === key && known.locked === locked) return known.report;
  const held = holdToLock(skill, locked, findVersion);
  const isSame = held.skill === skill && held.diagnostics.length === 0;
  const result: SkillReport = isSame
    ? report
    : {
        ...report,
        skill: held.skill,
        status: held.diagnostics.length > 0 ? "warning" : report.status,
        diagnostics: [...report.diagnostics, ...held.diagnostics],
      };
  pinned.set(report, { key, locked, report: result });
  return result;
}
