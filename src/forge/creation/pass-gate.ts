import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { CodeFolder } from "../../core/script-code.ts";
import type { Tool, ToolAuthor } from "../../core/tool.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import type { ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { type FileMap, writeFileAtomically, writeNewFiles } from "../../platform/files.ts";
import { makeTool, manifestFile, renderManifest, toManifest } from "../disk/manifest.ts";
import { firstVersion, type StoredTool } from "../disk/stored-tool.ts";
import { toPlaces } from "../drafts/languages.ts";
import type { ExampleResult, RefusedTool, ReplayReport, VersionStep, WaitingTool } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { findCycle, toPipelineOptions } from "../live/pipelines.ts";
import { findSharing } from "../owners.ts";
import type { ToolDraft } from "../drafts/tool-draft.ts";
import { compareTools } from "../versions/compare-tools.ts";
import { type LiveWindow, replayCalls } from "./replay-calls.ts";
import { nextVersion, stepFrom } from "../versions/next-version.ts";
import { refuseDraft, refuseExamples, toDiagnostics } from "./answer.ts";
import { checkUses, findLaxer, type Agreed, holdBack } from "./ask-person.ts";
import { runExamples, type Trial } from "./run-examples.ts";

/** What a draft is an edit of. */
export interface Base {
  readonly stored: StoredTool;
  readonly version: string;
  /** When it was live, and what it was made from without a break: calls of then may be made again. */
  readonly windows: readonly LiveWindow[];
  /** The tools of all versions that can be made, the current one too. */
  readonly tools: ReadonlyMap<string, Tool>;
}

/** What comes to the gate. */
export interface Candidate {
  readonly draft: ToolDraft;
  readonly base?: Base | undefined;
  /** What a person has agreed to. */
  readonly agreed?: Agreed;
  readonly author: ToolAuthor;
  readonly signal?: AbortSignal | undefined;
  readonly call?: Trial["call"];
}

/** A draft that may become live. */
export interface Passed {
  readonly status: "passed";
  readonly version: string;
  readonly files: FileMap;
  readonly examples: readonly ExampleResult[];
  readonly change?: { readonly from: string; readonly step: VersionStep; readonly reasons: readonly string[] };
  readonly replay?: ReplayReport;
}

/**
 * Lets a draft become a tool only after it was built and its examples passed in the sandbox, with exactly its permissions. One that
 * asks for more than the policy grants is not run before a person has agreed.
 */
export async function passGate(parts: ForgeParts, candidate: Candidate): Promise<Passed | RefusedTool | WaitingTool> {
  const { draft, signal } = candidate;
  const { findSandbox, buildCache, folder } = parts;
  let stage: Stage;
  try {
    stage = await openStage(draft, {
      findSandbox,
      cacheDirectory: buildCache,
      directory: folder.directory,
      signal,
    });
  } catch (cause) {
    signal?.throwIfAborted();
    return refuseDraft(draft.name, toDiagnostics(cause));
  }
  try {
    const made = prepare(parts, candidate, stage);
    return "status" in made ? made : await tryOut(parts, candidate, { ...made, stage });
  } finally {
    stage.remove();
  }
}

interface Prepared {
  readonly tool: Tool;
  /** The calls that a person must agree to. */
  readonly asks: readonly string[];
  readonly version: string;
  readonly change?: Passed["change"];
}

function prepare(parts: ForgeParts, candidate: Candidate, stage: Stage): Prepared | RefusedTool {
  const { draft, base, author } = candidate;
  const { workspace } = parts;
  const options = toPipelineOptions(workspace);
  const make = (version: string): Tool => {
    const manifest = toManifest(draft, { version, author });
    return makeTool(manifest, stage.finish(manifest), options);
  };
  try {
    const tool = make(firstVersion);
    const cycle = findCycle(draft.name, tool, workspace);
    if (cycle !== undefined) {
      const problem = { path: "steps", expected: "steps that do not lead back to it", found: cycle.join(" → ") };
      throw new KitbagError("pipeline-invalid", { pipeline: draft.name, problems: [problem] });
    }
    const checked = checkUses(parts, {
      uses: tool.uses ?? [],
      isCode: "code" in draft,
      author,
      before: base?.tools.get(base.version)?.uses ?? [],
    });
    if (!checked.ok) return refuseDraft(draft.name, checked.diagnostics);
    const { asks } = checked;
    if (base === undefined) return { tool, asks, version: firstVersion };
    const { version, change } = toChange(base, tool);
    return { tool: make(version), asks, version, change };
  } catch (cause) {
    return refuseDraft(draft.name, toDiagnostics(cause));
  }
}

/** The version of an edit, and how far it is from the one that it goes on from. */
export function toChange(
  { version: from, tools, stored }: Base,
  tool: Tool,
): Required<Pick<Prepared, "version" | "change">> {
  const compare = (label: string): ReturnType<typeof compareTools> => {
    const before = tools.get(label);
    const unknown = { step: "major", reasons: [`nothing is known of ${label}`] } as const;
    return before === undefined ? unknown : compareTools(before, tool);
  };
  const { step, reasons } = compare(from);
  const stepSince = (label: string): VersionStep => compare(label).step;
  const taken = [from, ...stored.versions.map(({ label }) => label)];
  let version = nextVersion({ base: from, step, taken, stepSince });
  // A folder of this name may exist although it was never live.
  while (stored.labels.includes(version)) version = stepFrom(version, "patch");
  return { version, change: { from, step, reasons } };
}

async function tryOut(
  parts: ForgeParts,
  candidate: Candidate,
  { tool, asks, version, change, stage }: Prepared & { readonly stage: Stage },
): Promise<Passed | RefusedTool | WaitingTool> {
  const { draft, base, agreed, author } = candidate;
  // One that was deleted, too: otherwise a caller who may not change a tool could make it anew.
  const before = base?.tools.get(base.version);
  const held = await holdBack(parts, {
    draft,
    asked: draft.permissions ?? {},
    laxer: [
      ...asks,
      ...(before === undefined ? [] : findLaxer(before, tool)),
      ...findSharing(before?.author ?? {}, tool.author ?? {}),
    ],
    agreed,
    from: base?.version,
    author,
  });
  if (held !== undefined) return held;
  const proof = await proveTool(parts, tool, candidate);
  if ("status" in proof) return proof;
  return { status: "passed", version, files: stage.files(), ...proof, ...(change !== undefined && { change }) };
}

/** Runs the examples of a tool, and if they pass the calls that were recorded of the version before. */
export async function proveTool(
  { policy, workspace, runtimes, store }: ForgeParts,
  tool: Tool,
  { base, signal, call }: Pick<Candidate, "base" | "signal" | "call">,
): Promise<Pick<Passed, "examples" | "replay"> | RefusedTool> {
  const trial: Trial = { runtimes, workspace, limitMs: policy.exampleLimitMs, signal, call };
  const examples = await runExamples(tool, trial);
  signal?.throwIfAborted();
  if (examples.some((one) => !one.passed)) return refuseExamples(tool.name, examples);
  const before = base?.tools.get(base.version);
  if (base === undefined || before === undefined) return { examples };
  const { windows } = base;
  const replay = { store, address: tool.name, before, windows, maxCalls: policy.maxReplays };
  return { examples, replay: await replayCalls(tool, replay, trial) };
}

/** A folder outside the project in which a draft is built and tried. */
interface Stage {
  /** The files with this manifest: what will be kept, byte for byte. */
  finish(manifest: ToolJson): CodeFolder;
  /** All files, as they are now. */
  files(): FileMap;
  remove(): void;
}

/** What WASM modules are built with. */
interface BuildParts {
  findSandbox(): Promise<Sandbox>;
  /** Where modules are kept that were built before. */
  readonly cacheDirectory: string;
  /** The project: compilers may be installed there. */
  readonly directory: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a draft into a folder of its own and builds what has to be built.
 *
 * @throws {KitbagError} `build-failed`, `compiler-missing`, and what the sandbox throws. Nothing is left then.
 */
async function openStage(draft: ToolDraft, build: BuildParts): Promise<Stage> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-forge-")));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    writeNewFiles(directory, toFiles(draft));
    if ("code" in draft) await buildModule(directory, draft, build);
  } catch (cause) {
    remove();
    throw cause;
  }
  return {
    remove,
    finish(manifest) {
      writeFileAtomically(join(directory, manifestFile), renderManifest(manifest), { mode: 0o644 });
      return readFolder(directory, { takesMarks: false, keepsContents: false });
    },
    files() {
      const { files } = readFolder(directory, { takesMarks: false, keepsContents: false });
      return new Map(files.map(({ path }) => [path, readFileSync(join(directory, path))]));
    },
  };
}

function toFiles(draft: ToolDraft): FileMap {
  if ("steps" in draft) return new Map();
  const texts = { ...draft.files, [toPlaces(draft).codeFile]: draft.code };
  return new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}

async function buildModule(
  directory: string,
  draft: Exclude<ToolDraft, { steps: unknown }>,
  { findSandbox, cacheDirectory, directory: project, signal }: BuildParts,
): Promise<void> {
  const { source, entryFile } = toPlaces(draft);
  if (source === undefined) return;
  const { buildTool } = await import("../../packages/build/build-tool.ts");
  await buildTool({
    sandbox: await findSandbox(),
    directory,
    source: source.file,
    language: source.language,
    output: entryFile,
    cacheDirectory,
    packagesFrom: [project],
    signal,
  });
}
