import { join, relative, sep } from "node:path";

import { KitbagError } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";
import { openRuntimes } from "../runtimes/open-runtimes.ts";
import { toRealPath } from "../platform/paths.ts";
import { resolveKitbagHome } from "../platform/home.ts";
import { type FolderWatch, watchFolders } from "../skills/watch/watch-folders.ts";
import { refuseDraft, toDiagnostics, toLiveAnswer } from "./creation/answer.ts";
import { proveTool, toChange } from "./creation/pass-gate.ts";
import { makeTool, manifestFile } from "./disk/manifest.ts";
import { createToolReader, type StoredTool, type StoredVersion } from "./disk/stored-tool.ts";
import { createToolTrust, createToolWriter } from "./disk/tool-writer.ts";
import { createToolsFolder } from "./disk/tools-folder.ts";
import { type AuthorOptions, bringAgreed, createEdits, notFound, toOwned, withPassed } from "./edits.ts";
import { keepByHand, toBase } from "./find-base.ts";
import type { AdoptOptions, Forge, ForgeAnswer, ForgeOptions, RefusedTool, SkillAnswer } from "./forge-interface.ts";
import { defaultPolicy, type ForgeParts } from "./forge-parts.ts";
import { createLiveTools } from "./live/live-tools.ts";
import { toPipelineOptions } from "./live/pipelines.ts";
import { createToolHistory } from "./tool-history.ts";
import { createBringIn } from "./skills/bring-in.ts";
import { createSkillMaker, type SkillMaker } from "./skills/create-skill.ts";
import { createSkillHistory } from "./skills/skill-history.ts";
import { isSkillDraft } from "./drafts/tool-draft.ts";
import { createWaitingDrafts, type WaitingDraft } from "./waiting-drafts.ts";

/**
 * Opens the forge of a project: makes the tools of its folder `.kitbag/tools` live in the workspace, follows the folder, and makes
 * new ones. Tools that were not made here run only after `kitbag trust`. Close it.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createWorkspace } from "kitbag";
 * import { openForge } from "kitbag/forge";
 * import { openRuntimes } from "kitbag/runtimes";
 *
 * const directory = mkdtempSync(join(tmpdir(), "forge-"));
 * const runtimes = openRuntimes({ directory });
 * const workspace = createWorkspace({ runtimes });
 * const forge = await openForge({ workspace, directory, runtimes, home: join(directory, "home") });
 * const answer = await forge.createTool({
 *   name: "shout",
 *   description: "Writes a text in capital letters",
 *   language: "bash",
 *   code: "tr '[:lower:]' '[:upper:]'",
 *   input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   examples: [],
 * });
 * // There is no example, so nothing is live, and the answer says what to do.
 * console.assert(answer.status === "refused" && answer.error.message.includes("give at least one"));
 * await forge.close();
 * await runtimes.close();
 * ```
 */
export async function openForge(options: ForgeOptions): Promise<Forge> {
  const { workspace, store, author, approve, watch = true, home = resolveKitbagHome(process.env) } = options;
  const directory = toRealPath(options.directory);
  const runtimes = options.runtimes ?? openRuntimes({ directory, home });
  const folder = createToolsFolder(directory);
  const trust = createToolTrust({ home });
  const read = createToolReader();
  const live = createLiveTools({ workspace, folder, trust, read });
  const parts: ForgeParts = {
    workspace,
    store,
    author,
    approve,
    folder,
    home,
    trust,
    read,
    live,
    policy: { ...defaultPolicy, ...options.policy },
    writer: createToolWriter(folder, trust, read),
    waiting: createWaitingDrafts(folder),
    runtimes,
    findSandbox: runtimes.findSandbox,
    buildCache: join(home, "cache", "wasm"),
  };
  const bringIn = createBringIn(parts, options.followed);
  const skills = createSkillMaker(parts, bringIn);
  const watcher = watch ? follow(parts) : undefined;
  live.refresh();
  return {
    workspace,
    directory,
    ...createEdits(parts),
    ...createToolHistory(parts),
    ...createAdoption(parts),
    ...createDecisions(parts, skills),
    ...createSkillHistory(parts, bringIn),
    createSkill: skills.create,
    state: workspace.openState,
    async refresh() {
      live.refresh();
    },
    async close() {
      watcher?.close();
      if (options.runtimes === undefined) await runtimes.close();
    },
  };
}

/** Looks at what others change in the folder of tools, and at what is trusted. */
function follow({ folder, live, trust }: ForgeParts): FolderWatch {
  const tools = toRealPath(folder.tools);
  const files = trust.path === undefined ? [] : [trust.path];
  const setFolders = (): readonly string[] => watcher.setFolders([folder.tools], files);
  const watcher = watchFolders((paths) => {
    const names = paths.flatMap((path) => toName(tools, toRealPath(path)));
    setFolders();
    live.refresh(paths.length === 0 || names.includes("") ? undefined : [...new Set(names)]);
  });
  setFolders();
  return watcher;
}

/** The name of the tool that a path belongs to; empty if it may be any. */
function toName(tools: string, path: string): readonly string[] {
  const inside = relative(tools, path);
  if (inside === "" || inside.startsWith("..")) return [""];
  const [name = ""] = inside.split(sep);
  // Locks and drafts come and go.
  return name.startsWith(".") ? [] : [name];
}

type DecisionMethods = Pick<Forge, "listWaiting" | "approve" | "deny">;

/** Makes what a person decides with about drafts that want more than the policy grants. */
function createDecisions(parts: ForgeParts, skills: SkillMaker): DecisionMethods {
  const { waiting } = parts;

  async function bring(
    { draft, waiting: facts }: WaitingDraft,
    options: AuthorOptions,
  ): Promise<ForgeAnswer | SkillAnswer> {
    return isSkillDraft(draft)
      ? skills.make(draft, {
          ...options,
          agreed: facts,
          ...(facts.from !== undefined && { replace: true, expectedVersion: facts.from }),
        })
      : bringAgreed(parts, { draft, facts }, options);
  }

  return {
    listWaiting: waiting.list,
    async approve(id, options = {}) {
      const found = waiting.get(id);
      const { author = options.author, authorScopes = "all", owner } = found.waiting;
      const named = { ...(author !== undefined && { author }), ...toOwned(owner) };
      const answer = await bring(found, { ...options, authorScopes, ...named });
      // What could not be made live may be approved again, once its cause is gone; or it is denied.
      if (answer.status === "live") waiting.remove(id);
      return answer;
    },
    async deny(id) {
      const { waiting: facts } = waiting.get(id);
      waiting.remove(id);
      return facts;
    },
  };
}

/** Makes what takes in what a person wrote by hand. */
function createAdoption(parts: ForgeParts): Pick<Forge, "adoptTool"> {
  const { live, trust } = parts;
  return {
    async adoptTool(name, options = {}) {
      live.refresh([name]);
      const { stored, status } = live.find(name) ?? {};
      if (stored === undefined || status === "deleted") throw notFound(parts, name);
      refuseOther(stored, options);
      const { current, versions } = stored;
      await trust.trust(versions.map(({ folder }) => folder));
      if (current === undefined || current.isKept) {
        live.refresh([name]);
        return toLiveAnswer(parts, name);
      }
      return adopt(parts, { stored, current }, options);
    },
  };
}

interface Edited {
  readonly stored: StoredTool;
  readonly current: StoredVersion;
}

async function adopt(parts: ForgeParts, { stored, current }: Edited, options: AdoptOptions): Promise<ForgeAnswer> {
  const { name, history, versions } = stored;
  const tool = make(parts, current);
  if ("status" in tool) return tool;
  const from = history.findLast(({ type }) => type !== "delete")?.version ?? versions.at(-1)?.label;
  const base = from === undefined ? undefined : toBase(parts, stored, from);
  const proof = await proveTool(parts, tool, { base, signal: options.signal, call: options.call });
  if ("status" in proof) return proof;
  const { version: label = current.label, change } = base === undefined ? {} : toChange(base, tool);
  const author = options.author ?? parts.author;
  const notes = { ...change, ...(author !== undefined && { author }) };
  await keepByHand(parts, stored, { version: current, label, isTrusted: true, notes });
  parts.live.refresh([name]);
  return withPassed(toLiveAnswer(parts, name), { ...proof, ...(change !== undefined && { change }) });
}

/** Refuses if the files have changed since the person read them. */
function refuseOther({ name, digest, current }: StoredTool, options: AdoptOptions): void {
  if (options.digest === undefined || options.digest === digest) return;
  const label = current?.label ?? "none";
  throw new KitbagError("version-conflict", { address: name, expected: label, current: label, changed: [] });
}

function make({ workspace }: ForgeParts, { manifest, folder }: StoredVersion): Tool | RefusedTool {
  try {
    const tool = makeTool(manifest, folder, toPipelineOptions(workspace));
    if (tool.examples.length > 0) return tool;
  } catch (cause) {
    return refuseDraft(manifest.name, toDiagnostics(cause));
  }
  const message = "it has no example; add at least one to its manifest: each is run before the tool is live";
  return refuseDraft(manifest.name, [{ severity: "error", code: "examples-missing", message, file: manifestFile }]);
}
