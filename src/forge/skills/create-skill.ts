import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { joinPermissions } from "../../core/permissions.ts";
import type { Tool, ToolAuthor } from "../../core/tool.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { findAuthor } from "../../workspace/call/authority.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { nothingChanged, refuseDraft, refuseExamples, refuseWith, toDiagnostics } from "../creation/answer.ts";
import { checkUses, findLaxerTools, type Agreed, holdBack, type Wish } from "../creation/ask-person.ts";
import { countDraft, refuseCaller } from "../creation/may-change.ts";
import { replayCalls, findWindows } from "../creation/replay-calls.ts";
import { checkSkillDraft } from "../drafts/check-draft.ts";
import { type AuthorOptions, toAuthor, toOwned } from "../edits.ts";
import type {
  ChangeOptions,
  Forge,
  ForgeDiagnostic,
  LiveSkill,
  RefusedTool,
  ReplayDifference,
  ReplayReport,
  SkillAnswer,
  SkillChangeOptions,
  WaitingTool,
} from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { checkOwner, findSharing, skillOwnershipOf } from "../owners.ts";
import type { SkillDraft } from "../drafts/tool-draft.ts";
import { type BringIn, toLiveSkill } from "./bring-in.ts";
import {
  refuseSkillName,
  refuseUnsettled,
  findSkillChange,
  loadKeptTools,
  loadLastTools,
  type SkillChange,
} from "./skill-change.ts";
import { toSkillUses, labelStage, stageSkill, trySkill } from "./stage-skill.ts";
import { writeSkill, readSkill, type StoredSkill } from "./stored-skill.ts";

/** Makes skills out of drafts. */
export interface SkillMaker {
  readonly create: Forge["createSkill"];
  /** Makes a draft that was checked. */
  make(draft: SkillDraft, options: MakeOptions): Promise<SkillAnswer>;
}

interface MakeOptions extends SkillChangeOptions, AuthorOptions {
  /** What a person has agreed to. */
  readonly agreed?: Agreed;
}

/** Makes what makes skills. */
export function createSkillMaker(parts: ForgeParts, bringIn: BringIn): SkillMaker {
  async function make(draft: SkillDraft, options: MakeOptions): Promise<SkillAnswer> {
    const found = readSkill(parts.folder, draft.name);
    const taken = refuseOthers(parts, found, options) ?? refuseSkillName(parts, found, options);
    if (taken !== undefined) return taken;
    const settled = await refuseUnsettled(parts, found, options);
    if ("status" in settled) return settled;
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-forge-")));
    try {
      return await bring(parts, { draft, bringIn, options, stored: settled, stage: join(directory, draft.name) });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  return {
    make,
    async create(given, options = {}) {
      const checked = checkSkillDraft(given, parts.policy);
      if (!checked.ok) return refuseDraft(checked.name, checked.diagnostics);
      return (await countDraft(parts, checked.draft.name, options)) ?? make(checked.draft, options);
    },
  };
}

interface Making {
  readonly draft: SkillDraft;
  readonly stage: string;
  /** What there was of the skill when this began. */
  readonly stored: StoredSkill;
  readonly bringIn: BringIn;
  readonly options: MakeOptions;
}

async function bring(parts: ForgeParts, making: Making): Promise<SkillAnswer> {
  const { draft, stage, stored, options } = making;
  const { signal } = options;
  const author = toSkillAuthor(parts, making);
  const from = stored.current?.label;
  try {
    await stageSkill(parts, { ...draft, author, ...(from !== undefined && { version: from }) }, { stage, signal });
  } catch (cause) {
    signal?.throwIfAborted();
    return refuseDraft(draft.name, toDiagnostics(cause));
  }
  if (isSame(stored, stage)) return toLiveSkill(parts, stored, { diagnostics: [nothingChanged] });
  const staged = await loadStage(draft, stage);
  if ("status" in staged) return staged;
  const { diagnostics } = staged;
  const uses = toSkillUses(draft);
  const tools = withUses(staged.tools, uses);
  const asked = joinPermissions((draft.tools ?? []).map((tool) => tool.permissions ?? {}));
  const before = stored.current === undefined ? [] : withUses(await loadKeptTools(stored.current), uses);
  const last = await loadLastTools(stored, tools);
  const forbidden = refuseCaller({ name: draft.name, tools: [...before, ...last], skill: draft.name }, options);
  if (forbidden !== undefined) return forbidden;
  const laxer = [
    ...findLaxerTools(last, tools),
    ...findSharing(skillOwnershipOf(stored), { ...author, shared: draft.shared === true }),
  ];
  const wish = { draft, asked, laxer, agreed: options.agreed, from, author };
  const held = await holdSkill(parts, wish, tools.length === 0 ? [] : uses);
  if (held !== undefined) return held;
  const examples = await trySkill(parts, { draft, tools }, options);
  signal?.throwIfAborted();
  if (examples.some((one) => !one.passed)) return refuseExamples(draft.name, examples);
  const replay = await replaySkill(parts, { stored, before, after: tools }, options);
  const change = await findSkillChange(draft, tools, stored);
  return makeLive(parts, making, { ...change, replay, diagnostics });
}

/** Who makes a skill, and whose it becomes: a new one is its author's, a new version changes no owner. */
function toSkillAuthor(parts: ForgeParts, { stored, options }: Pick<Making, "stored" | "options">): ToolAuthor {
  const author = toAuthor(parts, options);
  if (stored.versions.length === 0) return author;
  const { owner: _, ...editor } = author;
  return { ...editor, ...toOwned(skillOwnershipOf(stored).owner) };
}

/** Why a user cannot make a skill of this name, or the next version of it: it is another user's. */
function refuseOthers(
  { workspace }: ForgeParts,
  stored: StoredSkill,
  { call, replace = false }: SkillChangeOptions,
): RefusedTool | undefined {
  const { user } = findAuthor(call);
  const { name, versions } = stored;
  if (user === undefined || versions.length === 0) return undefined;
  const made = skillOwnershipOf(stored);
  if (made.owner === workspace.ownerOf(user)) return undefined;
  if (replace) checkOwner(workspace, { kind: "skill", name, ...made }, { call });
  const message = "the name is taken; take another name";
  return refuseDraft(name, [{ severity: "error", code: "name-taken", message, file: "draft" }]);
}

/** What a skill answers with that wants what its author may not give it, or what a person must agree to. */
async function holdSkill(
  parts: ForgeParts,
  wish: Wish & { readonly author: ToolAuthor },
  uses: readonly string[],
): Promise<RefusedTool | WaitingTool | undefined> {
  const { draft, author, laxer = [] } = wish;
  const checked = checkUses(parts, { uses, isCode: true, author });
  if (!checked.ok) return refuseDraft(draft.name, checked.diagnostics);
  return holdBack(parts, { ...wish, laxer: [...checked.asks, ...laxer] });
}

/** Outside its skill, where it is tried, a tool has to declare by itself what its skill declares for it. */
function withUses(tools: readonly Tool[], uses: readonly string[]): readonly Tool[] {
  return tools.map((tool) => ({ ...tool, uses }));
}

interface Staged {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** Reads what is staged as any other skill is read. */
async function loadStage(draft: SkillDraft, stage: string): Promise<Staged | RefusedTool> {
  const { reports } = await loadSkills({ directories: [stage] });
  const [report] = reports;
  const diagnostics = report?.diagnostics ?? [];
  if (report?.skill?.folder?.code !== undefined) {
    const message = `${report.skill.folder.code} would run in the host process; make a tool of it instead`;
    return refuseDraft(draft.name, [{ severity: "error", code: "file-invalid", message, file: "draft" }]);
  }
  if (report?.skill !== undefined && report.tools.length >= (draft.tools ?? []).length) {
    return { tools: report.skill.tools, diagnostics };
  }
  return refuseDraft(
    draft.name,
    diagnostics.filter(({ severity }) => severity !== "info"),
  );
}

function isSame({ current }: StoredSkill, stage: string): boolean {
  if (current === undefined) return false;
  return readFolder(stage, { takesMarks: false, keepsContents: false }).digest === current.folder.digest;
}

interface ReplayedSkill {
  readonly replay: ReplayReport | undefined;
}

async function makeLive(
  parts: ForgeParts,
  making: Making,
  { version, change, replay, diagnostics }: SkillChange & Pick<LiveSkill, "diagnostics"> & ReplayedSkill,
): Promise<SkillAnswer> {
  const { draft, stage, stored, bringIn } = making;
  const author = toSkillAuthor(parts, making);
  const labelled = { ...draft, version };
  const event = {
    type: stored.live === undefined ? ("create" as const) : ("update" as const),
    version,
    ...change,
    ...(author.user !== undefined && { author: author.user }),
  };
  const written = await attempt(draft.name, () =>
    writeSkill(parts, { before: stored, event, files: labelStage({ ...labelled, author }, stage), draft: labelled }),
  );
  if (written !== undefined) return written;
  const now = readSkill(parts.folder, draft.name);
  const wrong = await bringIn.put(now);
  if (wrong !== undefined) return refuseDraft(draft.name, wrong);
  return toLiveSkill(parts, now, {
    ...(change !== undefined && { change }),
    ...(replay !== undefined && { replay }),
    diagnostics: diagnostics.filter(({ code }) => code !== "skill-untrusted"),
  });
}

/** Does a step; answers with the refusal if another change came first. */
export async function attempt(name: string, work: () => Promise<void>): Promise<RefusedTool | undefined> {
  try {
    await work();
    return undefined;
  } catch (cause) {
    if (!isKitbagError(cause, "version-conflict")) throw cause;
    return refuseWith(name, cause);
  }
}

/** A skill that is replaced: its tools before, and those that come now. */
interface Replaced {
  readonly stored: StoredSkill;
  readonly before: readonly Tool[];
  readonly after: readonly Tool[];
}

/** Makes recorded calls of a skill's tools again with its new version. Nothing if there was no version before, or it may not run. */
async function replaySkill(
  { policy, runtimes, workspace, store, trust }: ForgeParts,
  { stored, before, after }: Replaced,
  { signal, call }: Pick<ChangeOptions, "signal" | "call">,
): Promise<ReplayReport | undefined> {
  const { name, current, history } = stored;
  if (current === undefined || !trust.mayRun(current.folder)) return undefined;
  const trial = { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call };
  const windows = findWindows(history, current.label);
  const differences: ReplayDifference[] = [];
  const skipped = new Set<string>();
  let calls = 0;
  for (const tool of after) {
    const known = before.find((one) => one.name === tool.name);
    if (known === undefined) continue;
    const address = `${name}/${tool.name}`;
    const replay = { store, address, before: known, windows, maxCalls: policy.maxReplays - calls };
    const report = await replayCalls(tool, replay, trial);
    calls += report.calls;
    differences.push(...report.differences.map((one) => ({ tool: address, ...one })));
    if (report.skipped !== undefined) skipped.add(report.skipped);
  }
  const why = calls === 0 && skipped.size > 0 ? { skipped: [...skipped].join("; ") } : {};
  return { calls, same: calls - differences.length, differences, ...why };
}
