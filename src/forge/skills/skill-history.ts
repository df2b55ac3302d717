import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { refuseName } from "../disk/tools-folder.ts";
import type {
  ChangeOptions,
  DeletedTool,
  Forge,
  ForgedSkill,
  ForgeEvent,
  ForgeVersion,
  RefusedTool,
  RollbackOptions,
  SkillAnswer,
  UpdateOptions,
} from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { refuseDraft, refuseLaxer } from "../creation/answer.ts";
import { findLaxerTools } from "../creation/ask-person.ts";
import { removeSkill, restoreSkill } from "../import/remove-skill.ts";
import { checkOwner, skillOwnershipOf } from "../owners.ts";
import { findAuthor } from "../../workspace/call/authority.ts";
import { type BringIn, toLiveSkill } from "./bring-in.ts";
import { attempt } from "./create-skill.ts";
import { isMade, refuseUnsettled, loadKeptTools, loadLastTools } from "./skill-change.ts";
import {
  addEvent,
  lockSkill,
  writeSkill,
  listMade,
  readSkill,
  readSkillDraft,
  type KeptSkill,
  type StoredSkill,
} from "./stored-skill.ts";

type SkillHistoryMethods = Pick<
  Forge,
  | "listSkills"
  | "listSkillVersions"
  | "skillHistory"
  | "readSkillDraft"
  | "rollbackSkill"
  | "deleteSkill"
  | "restoreSkill"
>;

/** Makes what looks at versions of skills, and goes back and forth between them. */
export function createSkillHistory(parts: ForgeParts, bringIn: BringIn): SkillHistoryMethods {
  const find = (name: string): StoredSkill => findMade(parts, name);
  /** One that the caller may change. */
  const findOwn = (name: string, options: ChangeOptions): StoredSkill => {
    const stored = find(name);
    checkOwner(parts.workspace, { kind: "skill", name, ...skillOwnershipOf(stored) }, options);
    return stored;
  };

  return {
    listSkills: () => listMade(parts.folder).flatMap((name) => toForged(parts, name)),
    listSkillVersions: async (name) => toVersions(find(name)),
    skillHistory: async (name) => find(name).history,
    async readSkillDraft(name, version) {
      const stored = find(name);
      const label = version ?? stored.current?.label ?? stored.history.at(-1)?.version ?? "";
      if (stored.versions.every((one) => one.label !== label)) throw missing(stored, label);
      return readSkillDraft(stored, label);
    },
    rollbackSkill: async (name, version, options = {}) =>
      rollBack({ parts, bringIn }, findOwn(name, options), { version, options }),
    deleteSkill: async (name, options = {}) => takeOut({ parts, bringIn }, findOwn(name, options), options),
    restoreSkill: async (name, options = {}) => putBack({ parts, bringIn }, findOwn(name, options), options),
  };
}

async function findLaxerVersion(stored: StoredSkill, target: KeptSkill): Promise<readonly string[]> {
  if (stored.current === target) return [];
  const tools = await loadKeptTools(target);
  return findLaxerTools(await loadLastTools(stored, tools), tools);
}

interface HistoryParts {
  readonly parts: ForgeParts;
  readonly bringIn: BringIn;
}

async function rollBack(
  { parts, bringIn }: HistoryParts,
  stored: StoredSkill,
  { version, options }: { readonly version: string; readonly options: RollbackOptions },
): Promise<SkillAnswer> {
  const { name } = stored;
  const settled = await refuseUnsettled(parts, stored, options);
  if ("status" in settled) return settled;
  const target = settled.versions.find(({ label }) => label === version);
  if (target === undefined) throw missing(settled, version);
  if (!parts.trust.mayRun(target.folder)) return refuseUntrusted(name, version);
  const laxer = options.isAgreed === true ? [] : await findLaxerVersion(settled, target);
  if (laxer.length > 0) return refuseLaxer(name, version, laxer);
  if (settled.current !== target) {
    const event = toEvent(parts, settled, { type: "rollback", version, options });
    const refused = await attempt(name, () => writeSkill(parts, { before: settled, event }));
    if (refused !== undefined) return refused;
  }
  return bringBack({ parts, bringIn }, name);
}

async function takeOut(
  { parts, bringIn }: HistoryParts,
  stored: StoredSkill,
  options: UpdateOptions,
): Promise<Pick<DeletedTool, "name" | "version">> {
  const { name } = stored;
  if (!isMade(parts, stored)) throw notFound(parts, name);
  const settled = await refuseUnsettled(parts, stored, options);
  if ("status" in settled) throw new KitbagError(settled.error.code, settled.error.details);
  const version = settled.current?.label ?? "";
  await lockSkill(parts, settled, async () => {
    await removeSkill(name, { directory: parts.folder.directory, home: parts.home });
    addEvent(settled, toEvent(parts, settled, { type: "delete", version, options }));
  });
  await bringIn.drop(settled);
  return { name, version };
}

async function putBack(
  { parts, bringIn }: HistoryParts,
  stored: StoredSkill,
  options: ChangeOptions,
): Promise<SkillAnswer> {
  const { name, live } = stored;
  if (live !== undefined) return bringBack({ parts, bringIn }, name);
  await lockSkill(parts, stored, async () => {
    await restoreSkill(name, { directory: parts.folder.directory, home: parts.home });
    const version = readSkill(parts.folder, name).current?.label ?? stored.versions.at(-1)?.label ?? "";
    addEvent(stored, toEvent(parts, stored, { type: "restore", version, options }));
  });
  return bringBack({ parts, bringIn }, name);
}

async function bringBack({ parts, bringIn }: HistoryParts, name: string): Promise<SkillAnswer> {
  const now = readSkill(parts.folder, name);
  const wrong = await bringIn.put(now);
  return wrong === undefined ? toLiveSkill(parts, now) : refuseDraft(name, wrong);
}

interface HistoryStep {
  readonly type: "rollback" | "delete" | "restore";
  readonly version: string;
  readonly options: UpdateOptions;
}

function toEvent(
  parts: ForgeParts,
  { current }: StoredSkill,
  { type, version, options }: HistoryStep,
): Omit<ForgeEvent, "at"> {
  const author = options.author ?? findAuthor(options.call).user ?? parts.author;
  const from = type === "rollback" && current !== undefined ? { from: current.label } : {};
  return { type, version, ...from, ...(author !== undefined && { author }) };
}

/** A skill that was made here, deleted or not. */
function findMade(parts: ForgeParts, name: string): StoredSkill {
  const stored = refuseName(name) === undefined ? readSkill(parts.folder, name) : undefined;
  if (stored !== undefined && stored.versions.length > 0) return stored;
  throw notFound(parts, name);
}

function notFound({ folder, workspace }: ForgeParts, name: string): KitbagError {
  if (workspace.getSkill(name) !== undefined) {
    const reasons = [
      `the skill was not made here; edit its files, or take it out of .kitbag/skills with: kitbag remove ${name}`,
    ];
    return new KitbagError("draft-refused", { name, reasons });
  }
  const known = listMade(folder);
  return new KitbagError("skill-not-found", { skill: name, nearest: nearestNames(name, known), count: known.length });
}

function missing({ name, versions }: StoredSkill, which: string): KitbagError {
  const known = versions.map(({ label }) => label);
  return new KitbagError("version-not-found", { address: name, which, known });
}

function refuseUntrusted(name: string, version: string): RefusedTool {
  const place = `.kitbag/skill-versions/${name}/${version}`;
  const message = `version ${version} was not made here and is not trusted; read it, then run: kitbag trust ${place}`;
  return refuseDraft(name, [{ severity: "error", code: "skill-untrusted", message, file: "SKILL.md" }]);
}

function toForged({ folder, trust }: ForgeParts, name: string): readonly ForgedSkill[] {
  if (refuseName(name) !== undefined) return [];
  const stored = readSkill(folder, name);
  const { live, current, versions, history } = stored;
  if (versions.length === 0) return [];
  const owned = skillOwnershipOf(stored);
  const version = current?.label ?? history.at(-1)?.version ?? versions.at(-1)?.label ?? "";
  if (live === undefined) return [{ name, status: "deleted", version, ...owned }];
  const byHand = current === undefined ? { editedByHand: true as const } : {};
  return [{ name, status: trust.mayRun(live) ? "live" : "untrusted", version, ...byHand, ...owned }];
}

function toVersions(stored: StoredSkill): readonly ForgeVersion[] {
  const { versions, current, history } = stored;
  return versions.map(({ label, folder }) => {
    const first = history.find(({ version }) => version === label);
    const { step, reasons, author, at = 0 } = first ?? {};
    return {
      version: label,
      current: label === current?.label,
      description: readSkillDraft(stored, label)?.description ?? "",
      digest: folder.digest,
      at,
      ...(step !== undefined && { step }),
      ...(reasons !== undefined && { reasons }),
      ...(author !== undefined && { author }),
    };
  });
}
