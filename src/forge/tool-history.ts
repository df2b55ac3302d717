import { KitbagError } from "../core/errors.ts";
import { findAuthor } from "../workspace/call/authority.ts";
import { lastVersion, type StoredTool } from "./disk/stored-tool.ts";
import type { ForgeParts } from "./forge-parts.ts";
import type {
  ChangeOptions,
  Forge,
  ForgeAnswer,
  ForgeEvent,
  ForgeVersion,
  RollbackOptions,
  TestReport,
  TrialOptions,
  UpdateOptions,
} from "./forge-interface.ts";
import { checkMade, draftOf, findVersion, notFound, refuseStale } from "./edits.ts";
import { keepByHand, toBase } from "./find-base.ts";
import { refuseDraft, refuseLaxer, toReasons, toLiveAnswer } from "./creation/answer.ts";
import { findLaxer } from "./creation/ask-person.ts";
import { runExamples } from "./creation/run-examples.ts";
import type { ForgedEntry } from "./live/live-tools.ts";
import { findUsers } from "./live/pipelines.ts";

type ToolHistoryMethods = Pick<
  Forge,
  "testTool" | "listTools" | "listVersions" | "history" | "readDraft" | "rollbackTool" | "deleteTool" | "restoreTool"
>;

/** Makes what looks at versions, and goes back and forth between them. */
export function createToolHistory(parts: ForgeParts): ToolHistoryMethods {
  const { live } = parts;

  function find(name: string): ForgedEntry {
    live.refresh([name]);
    const entry = live.find(name);
    if (entry === undefined) throw notFound(parts, name);
    return entry;
  }

  /** One that the caller may change. */
  function findOwn(name: string, options: ChangeOptions): ForgedEntry {
    const entry = find(name);
    checkMade(parts, name, options);
    return entry;
  }

  return {
    listTools: live.list,
    testTool: async (name, options) => testTool(parts, find(name), options),
    listVersions: async (name) => toVersions(find(name)),
    history: async (name) => find(name).stored.history,
    async readDraft(name, version) {
      const { stored } = find(name);
      return draftOf(stored, version ?? lastVersion(stored) ?? "");
    },
    rollbackTool: async (name, version, options = {}) => rollBack(parts, findOwn(name, options), { version, options }),
    async deleteTool(name, options = {}) {
      const entry = findOwn(name, options);
      if (entry.status === "deleted") throw notFound(parts, name);
      const version = currentOf(entry);
      const stale = refuseStale(entry.stored, version, options);
      if (stale !== undefined) throw new KitbagError(stale.error.code, stale.error.details);
      const usedBy = findUsers(name, parts.workspace, { withPinned: true });
      await step(parts, entry, { type: "delete", version, options });
      return { name, version, ...(usedBy.length > 0 && { usedBy }) };
    },
    async restoreTool(name, options = {}) {
      const entry = findOwn(name, options);
      const version = currentOf(entry);
      if (entry.status === "deleted") await step(parts, entry, { type: "restore", version, options });
      return toLiveAnswer(parts, name);
    },
  };
}

async function rollBack(
  parts: ForgeParts,
  entry: ForgedEntry,
  { version, options }: { readonly version: string; readonly options: RollbackOptions },
): Promise<ForgeAnswer> {
  const { name } = entry.stored;
  const current = currentOf(entry);
  const target = entry.stored.versions.find(({ label }) => label === version) ?? findVersion(entry.stored, version);
  if (target === undefined) throw missing(entry, version);
  const stale = refuseStale(entry.stored, current, options);
  if (stale !== undefined) return stale;
  if (!parts.trust.judge(entry.stored).isTrusted(target)) {
    const message = `version ${version} was not made here and is not trusted; read it, then run: kitbag trust .kitbag/tools/${name}`;
    return refuseDraft(name, [{ severity: "error", code: "tool-untrusted", message, file: "manifest.json" }]);
  }
  const laxer = options.isAgreed === true ? [] : findLaxerVersion(parts, entry, version);
  if (laxer.length > 0) return refuseLaxer(name, version, laxer);
  const isLive = version === current && entry.stored.current?.isKept === true && entry.status !== "deleted";
  if (!isLive && target.isKept) await step(parts, entry, { type: "rollback", version, options });
  return toLiveAnswer(parts, name, entry.stored.current === undefined ? [keptAside] : []);
}

const keptAside = {
  severity: "info",
  code: "broken-kept",
  message: "What could not be read is kept beside the versions of the tool, in a folder that begins with broken-",
  file: "versions",
} as const;

/** What the version of now promises, or the last one of a tool that was deleted or cannot be read, and another one does not. */
function findLaxerVersion(parts: ForgeParts, { tool, stored }: ForgedEntry, version: string): readonly string[] {
  const { tools } = toBase(parts, stored, version);
  const before = tool ?? tools.get(stored.current?.label ?? lastVersion(stored) ?? "");
  const target = tools.get(version);
  return before === undefined || target === undefined ? [] : findLaxer(before, target);
}

function currentOf(entry: ForgedEntry): string {
  const label = lastVersion(entry.stored);
  if (label !== undefined) return label;
  throw notLive(entry);
}

function missing({ stored }: ForgedEntry, which: string): KitbagError {
  const known = stored.versions.map(({ label }) => label);
  return new KitbagError("version-not-found", { address: stored.name, which, known });
}

/** A tool that is broken or not trusted does not run. */
function notLive({ stored, diagnostics }: ForgedEntry): KitbagError {
  return new KitbagError("draft-refused", { name: stored.name, reasons: toReasons(diagnostics) });
}

interface HistoryStep {
  readonly type: "rollback" | "delete" | "restore";
  readonly version: string;
  readonly options: UpdateOptions;
}

async function step(parts: ForgeParts, entry: ForgedEntry, life: HistoryStep): Promise<void> {
  const { current, name } = entry.stored;
  if (current === undefined || current.isKept) return writeStep(parts, entry.stored, life);
  // What was written by hand is kept before anything is put in its place.
  await keepByHand(parts, entry.stored, { version: current });
  parts.live.refresh([name]);
  const kept = parts.live.find(name)?.stored ?? entry.stored;
  const isCurrent = life.type !== "rollback";
  return writeStep(parts, kept, isCurrent ? { ...life, version: kept.current?.label ?? life.version } : life);
}

async function writeStep(
  parts: ForgeParts,
  stored: StoredTool,
  { type, version, options }: HistoryStep,
): Promise<void> {
  const author = options.author ?? findAuthor(options.call).user ?? parts.author;
  const from = stored.current?.label;
  const event: Omit<ForgeEvent, "at"> = {
    type,
    version,
    ...(type === "rollback" && from !== undefined && { from }),
    ...(author !== undefined && { author }),
  };
  await parts.writer.write({
    name: stored.name,
    event,
    isDeleted: type === "delete",
    check(now) {
      if (now?.digest === stored.digest) return;
      const current = now?.current?.label ?? "none";
      throw new KitbagError("version-conflict", {
        address: stored.name,
        expected: from ?? "none",
        current,
        changed: [],
      });
    },
  });
  parts.live.refresh([stored.name]);
}

async function testTool(
  { policy, runtimes, workspace }: ForgeParts,
  entry: ForgedEntry,
  { version, signal, call }: TrialOptions & { readonly version?: string } = {},
): Promise<TestReport> {
  const { stored, versions, tool: current } = entry;
  if (entry.status === "deleted") throw new KitbagError("tool-deleted", { tool: stored.name });
  const label = version ?? currentOf(entry);
  const tool = current?.version === label ? current : versions.get(label);
  // A version that is named is tried, whatever is wrong with the files above it.
  if (version === undefined && entry.status !== "live") throw notLive(entry);
  if (tool === undefined) throw missing(entry, label);
  const examples = await runExamples(tool, { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call });
  return { name: stored.name, version: label, passed: examples.every((one) => one.passed), examples };
}

function toVersions({ stored }: ForgedEntry): readonly ForgeVersion[] {
  const { current, versions, history } = stored;
  const all =
    current === undefined || versions.some(({ label }) => label === current.label) ? versions : [...versions, current];
  return all.map(({ label, manifest, folder }): ForgeVersion => {
    const first = history.find((event) => event.version === label);
    const author = first?.author ?? manifest.author;
    return {
      version: label,
      current: label === current?.label && !stored.isDeleted,
      description: manifest.description ?? "",
      digest: folder.digest,
      at: first?.at ?? 0,
      ...(first?.step !== undefined && { step: first.step }),
      ...(first?.reasons !== undefined && { reasons: first.reasons }),
      ...(author !== undefined && { author }),
    };
  });
}
