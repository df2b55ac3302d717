import { relative } from "node:path";

import { toCanonicalJson, type JsonValue } from "../core/json.ts";
import { isKitbagError, KitbagError, type ErrorDetails } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";
import { isInside } from "../platform/paths.ts";
import type { ToolAuthor } from "../core/tool.ts";
import { findAuthor } from "../workspace/call/authority.ts";
import type { RegisteredTool } from "../workspace/registry/registered-tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { toDraft } from "./disk/manifest.ts";
import type { ToolsFolder } from "./disk/tools-folder.ts";
import type { StoredTool, StoredVersion } from "./disk/stored-tool.ts";
import { checkDraft } from "./drafts/check-draft.ts";
import { findBase } from "./find-base.ts";
import type { ForgeParts } from "./forge-parts.ts";
import type {
  ChangeOptions,
  Forge,
  ForgeAnswer,
  ForgeEvent,
  RefusedTool,
  UpdateOptions,
  WaitingTool,
} from "./forge-interface.ts";
import { nothingChanged, refuseDraft, refuseWith, toReasons, toLiveAnswer } from "./creation/answer.ts";
import { countDraft, refuseCaller, refuseTaken } from "./creation/may-change.ts";
import { passGate, type Base, type Candidate, type Passed } from "./creation/pass-gate.ts";
import { checkOwner, ownershipOf } from "./owners.ts";
import type { ToolChanges, ToolDraft } from "./drafts/tool-draft.ts";

type EditMethods = Pick<Forge, "createTool" | "createPipeline" | "updateTool">;

/** Makes what puts new tools and new versions in. */
export function createEdits(parts: ForgeParts): EditMethods {
  const { live } = parts;

  async function createTool(given: unknown, options: ChangeOptions = {}): Promise<ForgeAnswer> {
    const checked = checkDraft(given, parts.policy);
    if (!checked.ok) return refuseDraft(checked.name, checked.diagnostics);
    const { draft } = checked;
    // Another program may have changed the folder just now.
    live.refresh([draft.name]);
    const refused = refuseTaken(parts, draft.name, options) ?? (await countDraft(parts, draft.name, options));
    if (refused !== undefined) return refused;
    return bring(parts, { draft, base: await findBase(parts, draft.name), ...toNotes(parts, options) });
  }

  return {
    createTool,
    createPipeline: createTool,
    async updateTool(name, changes, options = {}) {
      live.refresh([name]);
      checkMade(parts, name, options);
      const base = await requireBase(parts, name);
      const before = draftOf(base.stored, base.version);
      const conflict = refuseStale(base.stored, base.version, options);
      if (conflict !== undefined) return conflict;
      const other = refuseOtherKind(before, changes);
      if (other !== undefined) return other;
      const checked = checkDraft(mergeDraft(before, changes), parts.policy);
      if (!checked.ok) return refuseDraft(name, checked.diagnostics);
      const { draft } = checked;
      if (isSame(draft, before)) return toLiveAnswer(parts, name, [nothingChanged]);
      const tooMany = await countDraft(parts, name, options);
      return tooMany ?? bring(parts, { draft, base, ...toNotes(parts, options) });
    },
  };
}

/** A draft of a tool that a person has agreed to. */
export interface AgreedTool {
  readonly draft: ToolDraft;
  readonly facts: WaitingTool;
}

/** Takes a draft through the gate that a person has agreed to, unless its tool has changed since. */
export async function bringAgreed(
  parts: ForgeParts,
  { draft, facts }: AgreedTool,
  options: AuthorOptions,
): Promise<ForgeAnswer> {
  parts.live.refresh([draft.name]);
  const base = await findBase(parts, draft.name);
  const current = base?.stored.isDeleted === true ? undefined : base?.version;
  if (base !== undefined && current !== facts.from && current !== undefined) {
    return toConflict(base.stored, facts.from ?? "none", current);
  }
  return bring(parts, { draft, base, agreed: facts, ...toNotes(parts, options) });
}

function toNotes(parts: ForgeParts, options: AuthorOptions): Pick<Candidate, "author" | "call" | "signal"> {
  return { author: toAuthor(parts, options), signal: options.signal, call: options.call };
}

/** A change by an author who may be another one than the person who makes it live. */
export interface AuthorOptions extends ChangeOptions {
  readonly authorScopes?: ToolAuthor["scopes"];
  /** The user whose it becomes. @default who called the forge's tool */
  readonly owner?: string;
}

/** Who makes a change: who is named, else who called the forge's tool, else who opened the forge. */
export function toAuthor(
  parts: Pick<ForgeParts, "author" | "workspace">,
  { author, authorScopes, call, owner }: AuthorOptions,
): ToolAuthor {
  const caller = findAuthor(call);
  const user = author ?? caller.user ?? parts.author;
  return {
    ...(user !== undefined && { user }),
    scopes: authorScopes ?? caller.scopes,
    ...toOwned(owner ?? parts.workspace.ownerOf(caller.user)),
  };
}

/** Names the owner, if there is one. */
export function toOwned(owner: string | undefined): Pick<ToolAuthor, "owner"> {
  return owner === undefined ? {} : { owner };
}

/** Takes a candidate through the gate and makes it live. Nothing of one that does not pass is left. */
async function bring(parts: ForgeParts, given: Candidate): Promise<ForgeAnswer> {
  const { draft, base } = given;
  const author = withOwner(given);
  const candidate = { ...given, author };
  const passed = refuseEditor(candidate) ?? (await passGate(parts, candidate));
  if (passed.status !== "passed") return passed;
  const isNew = base === undefined || base.stored.isDeleted;
  const event: Omit<ForgeEvent, "at"> = {
    type: isNew ? "create" : "update",
    version: passed.version,
    ...(base !== undefined && { from: base.version }),
    ...(passed.change !== undefined && {
      step: passed.change.step,
      reasons: passed.change.reasons.slice(0, mostReasons),
    }),
    ...(author.user !== undefined && { author: author.user }),
  };
  try {
    await parts.writer.write({
      name: draft.name,
      event,
      files: passed.files,
      check: (stored) => refuseChanged(draft.name, base, stored),
    });
  } catch (cause) {
    if (!isKitbagError(cause, "version-conflict") && !isKitbagError(cause, "tool-deleted")) throw cause;
    parts.live.refresh([draft.name]);
    return (base === undefined ? refuseTaken(parts, draft.name, given) : undefined) ?? refuseWith(draft.name, cause);
  }
  parts.live.refresh([draft.name]);
  return withPassed(toLiveAnswer(parts, draft.name), passed);
}

/** The author of a tool. A new tool is its author's; an edit changes no owner. */
function withOwner({ base, author }: Candidate): ToolAuthor {
  if (base === undefined) return author;
  const { owner: _, ...editor } = author;
  return { ...editor, ...toOwned(ownershipOf(base.stored).owner) };
}

/** Refuses a change of a tool that is another user's. @throws {KitbagError} as {@link checkOwner} */
export function checkMade({ live, workspace }: ForgeParts, name: string, options: ChangeOptions): void {
  const entry = live.find(name);
  if (entry !== undefined) checkOwner(workspace, { kind: "tool", name, ...ownershipOf(entry.stored) }, options);
}

function refuseEditor({ draft, base, call }: Candidate): RefusedTool | undefined {
  const before = base?.tools.get(base.version);
  return before && refuseCaller({ name: draft.name, tools: [before] }, { call });
}

const mostReasons = 10;

/** An answer, with the result of the gate. */
export function withPassed(
  answer: ForgeAnswer,
  { examples, change, replay }: Pick<Passed, "examples" | "change" | "replay">,
): ForgeAnswer {
  if (answer.status !== "live") return answer;
  return {
    ...answer,
    examples,
    ...(change !== undefined && { change }),
    ...(replay !== undefined && { replay }),
  };
}

/** Refuses if the tool has changed while the draft was built and tried. */
function refuseChanged(name: string, base: Base | undefined, stored: StoredTool | undefined): void {
  if (isSameState(base?.stored, stored)) return;
  if (stored?.isDeleted === true && base?.stored.isDeleted === false) {
    throw new KitbagError("tool-deleted", { tool: name });
  }
  const expected = base?.version ?? "none";
  const current = stored?.current?.label ?? "none";
  const changed = stored === undefined ? [] : changedParts(stored, expected, current);
  throw conflict({ address: name, expected, current, changed });
}

function isSameState(before: StoredTool | undefined, now: StoredTool | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  const [one, other] = [before.current, now.current];
  const isSameVersion = one?.label === other?.label && one?.folder.digest === other?.folder.digest;
  return isSameVersion && before.isDeleted === now.isDeleted;
}

function conflict(details: ConstructorParameters<typeof KitbagError<"version-conflict">>[1]): KitbagError {
  return new KitbagError("version-conflict", details);
}

/** Refuses an edit of a version that is no longer the live one. */
export function refuseStale(
  stored: StoredTool,
  current: string,
  { expectedVersion }: UpdateOptions,
): RefusedTool | undefined {
  if (expectedVersion === undefined || expectedVersion === current) return undefined;
  return toConflict(stored, expectedVersion, current);
}

function toConflict(stored: StoredTool, expected: string, current: string): RefusedTool {
  const changed = changedParts(stored, expected, current);
  return refuseWith(stored.name, conflict({ address: stored.name, expected, current, changed }));
}

/** The parts of a draft that are not the same in two versions. */
function changedParts(stored: StoredTool, from: string, to: string): readonly string[] {
  const [before, after] = [from, to].map((label) => findDraft(stored, label) as Record<string, unknown> | undefined);
  if (before === undefined || after === undefined) return [];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => !isSame(before[key], after[key]));
}

function isSame(one: unknown, other: unknown): boolean {
  return toText(one) === toText(other);
}

function toText(value: unknown): string {
  return value === undefined ? "" : toCanonicalJson(value as JsonValue);
}

/** Code does not become a pipeline, nor the other way round: its versions would have nothing in common. */
function refuseOtherKind(before: ToolDraft, changes: ToolChanges): RefusedTool | undefined {
  const isPipeline = "steps" in before;
  const parts = isPipeline ? (["code", "language", "files", "output"] as const) : (["steps", "result"] as const);
  const wrong = parts.find((part) => (changes?.[part] ?? null) !== null);
  if (wrong === undefined) return undefined;
  const message = isPipeline
    ? `changes.${wrong}: it is a pipeline, which has "steps" and "result"; for code make another tool with create_tool`
    : `changes.${wrong}: it is a tool made of code; for steps make another tool with create_pipeline`;
  return refuseDraft(before.name, [{ severity: "error", code: "draft-invalid", message, file: "draft" }]);
}

/** What is not named stays; `null` takes a part away. */
function mergeDraft(before: ToolDraft, changes: ToolChanges): unknown {
  const isRecord = typeof changes === "object" && changes !== null && !Array.isArray(changes);
  if (!isRecord) return changes;
  const merged = Object.entries({ ...before, ...changes, name: before.name });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

/** The draft of a version. @throws {KitbagError} `version-not-found` */
export function draftOf(stored: StoredTool, label: string): ToolDraft {
  const draft = findDraft(stored, label);
  if (draft !== undefined) return draft;
  const known = stored.versions.map((version) => version.label);
  throw new KitbagError("version-not-found", { address: stored.name, which: label, known });
}

function findDraft(stored: StoredTool, label: string): ToolDraft | undefined {
  const version = findVersion(stored, label);
  if (version === undefined) return undefined;
  const decoder = new TextDecoder();
  // Modules are made of the rest.
  const texts = [...version.contents].filter(([path]) => !path.endsWith(".wasm"));
  return toDraft(version.manifest, new Map(texts.map(([path, bytes]) => [path, decoder.decode(bytes)])));
}

/** A version by its label; the current one may be files that were edited by hand. */
export function findVersion({ current, versions }: StoredTool, label: string): StoredVersion | undefined {
  return current?.label === label ? current : versions.find((version) => version.label === label);
}

async function requireBase(parts: ForgeParts, name: string): Promise<Base> {
  const entry = parts.live.find(name);
  if (entry === undefined || entry.status === "deleted") throw notFound(parts, name);
  if (entry.status === "untrusted") {
    const diagnostic = entry.diagnostics.find(({ code }) => code === "tool-untrusted");
    const reasons = [`${diagnostic?.message ?? "it is not trusted"}; ${diagnostic?.cure ?? ""}`];
    throw new KitbagError("draft-refused", { name, reasons });
  }
  const base = await findBase(parts, name);
  if (base !== undefined) return base;
  throw new KitbagError("draft-refused", { name, reasons: toReasons(entry.diagnostics) });
}

/** Why there is no tool of this name to work on: it was deleted, comes from elsewhere, or does not exist. */
export function notFound({ live, workspace, folder }: ForgeParts, name: string): KitbagError {
  const all = live.list();
  if (all.some((one) => one.name === name && one.status === "deleted")) {
    return new KitbagError("tool-deleted", { tool: name });
  }
  const other = workspace.getTool(name);
  if (other !== undefined)
    return new KitbagError("tool-not-made", { tool: name, ...findSkill(other, workspace, folder) });
  const names = all.filter(({ status }) => status !== "deleted").map((one) => one.name);
  return new KitbagError("tool-not-found", { tool: name, nearest: nearestNames(name, names), count: names.length });
}

/** The skill that a tool belongs to, and where that is. */
function findSkill(
  { source, owner }: RegisteredTool,
  workspace: Workspace,
  { directory }: ToolsFolder,
): Omit<ErrorDetails["tool-not-made"], "tool"> {
  if (source !== "skill") return {};
  const place = workspace.getSkill(owner)?.folder?.directory;
  if (place === undefined) return { skill: owner };
  return { skill: owner, folder: isInside(place, directory) ? relative(directory, place) : place };
}
