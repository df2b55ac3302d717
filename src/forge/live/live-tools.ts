import { isKitbagError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import { fromHints } from "../../skills/manifests/read-tool-json.ts";
import { lastVersion, type StoredTool, type StoredVersion, createToolReader } from "../disk/stored-tool.ts";
import { makeTool } from "../disk/manifest.ts";
import { type ToolTrust, type TrustedVersions, createToolTrust } from "../disk/tool-writer.ts";
import { type ToolsFolder, createToolsFolder } from "../disk/tools-folder.ts";
import type { ForgedTool, ForgeDiagnostic } from "../forge-interface.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { ownershipOf } from "../owners.ts";
import { stepsOf, toPipelineOptions } from "./pipelines.ts";
import { toRealPath } from "../../platform/paths.ts";
import type { FolderTrustOptions } from "../../skills/trust/folder-trust.ts";

/** A tool of the folder, with its status and its versions. */
export interface ForgedEntry {
  readonly stored: StoredTool;
  readonly status: ForgedTool["status"];
  /** Of the current version, if it may run and can be made; otherwise of the last good one. */
  readonly tool?: Tool;
  /** Earlier versions that may run, by label. */
  readonly versions: ReadonlyMap<string, Tool>;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** The tools of the folder, kept the same in the workspace. */
export interface LiveTools {
  /** Looks at these tools, or at all of them, and makes the workspace what the folder is. Never throws for what is on the disk. */
  refresh(names?: readonly string[]): void;
  find(name: string): ForgedEntry | undefined;
  list(): readonly ForgedTool[];
}

/** What live tools are made of. */
export interface LiveParts {
  readonly workspace: Workspace;
  readonly folder: ToolsFolder;
  readonly trust: ToolTrust;
  readonly read: (name: string, directory: string) => StoredTool;
}

interface Known {
  readonly entry: ForgedEntry;
  /** Changes when something must be made anew; none if it must be in any case. */
  readonly key: string | undefined;
}

/** Makes the tools of a folder live. */
export function createLiveTools(parts: LiveParts): LiveTools {
  const { workspace, folder, trust, read } = parts;
  const known = new Map<string, Known>();
  let strange: readonly ForgedTool[] = [];

  function look(name: string): void {
    const stored = read(name, folder.toolDirectory(name));
    if (stored.isUnfinished) return forget(name);
    const judged = trust.judge(stored);
    const key = toKey(stored, judged, workspace);
    const before = known.get(name);
    if (before?.key !== undefined && before.key === key && isThere(workspace, before.entry)) return;
    const entry = place(workspace, toEntry(stored, judged, workspace), before?.entry);
    const isSettled = !entry.diagnostics.some(({ code }) => code === unresolved || code === "tool-duplicate");
    known.set(name, { entry, key: isSettled ? key : undefined });
  }

  function forget(name: string): void {
    const before = known.get(name);
    known.delete(name);
    if (before !== undefined && isThere(workspace, before.entry) && before.entry.tool !== undefined) {
      workspace.remove(name);
    }
  }

  function lookAtAll(wanted: readonly string[] | undefined): void {
    const listed = folder.list();
    strange = listed.strange.map((name) => toStrange(folder, name));
    const there = new Set(listed.names);
    const names = wanted === undefined ? [...listed.names, ...known.keys()] : wanted;
    for (const name of new Set(names)) {
      if (!there.has(name)) forget(name);
      else look(name);
    }
    // What pipelines may do follows from their steps, which may be other ones now, or there at last.
    for (const [name, { entry }] of known) if (isPipeline(entry.stored) && there.has(name)) look(name);
    for (const [name, { key }] of known) if (key === undefined && there.has(name)) look(name);
  }

  return {
    refresh: (names) => workspace.change(() => lookAtAll(names)),
    find: (name) => known.get(name)?.entry,
    list() {
      const own = [...known.values()].map(({ entry }) => toForged(entry));
      return [...own, ...strange].toSorted((left, right) => (left.name < right.name ? -1 : 1));
    },
  };
}

const unresolved = "step-missing";

function isPipeline({ current }: StoredTool): boolean {
  return current?.manifest.tool_type === "pipeline";
}

/** Whether the tool that is in the workspace under this name is the one that was put there. */
function isThere(workspace: Workspace, { stored, tool }: ForgedEntry): boolean {
  const found = workspace.getTool(stored.name);
  return tool === undefined || (found?.address === stored.name && found.tool === tool);
}

function toKey(stored: StoredTool, { isTrusted, diagnostics }: TrustedVersions, workspace: Workspace): string {
  const { current, versions, digest, isDeleted } = stored;
  const trusted = versions.filter(isTrusted).map(({ label }) => label);
  const isCurrent = current !== undefined && isTrusted(current);
  const steps = current === undefined ? [] : stepsOf(current.manifest, workspace);
  return JSON.stringify([digest, isDeleted, isCurrent, trusted, steps, diagnostics.length]);
}

function toEntry(stored: StoredTool, { isTrusted, diagnostics }: TrustedVersions, workspace: Workspace): ForgedEntry {
  const { current, isDeleted } = stored;
  const base = { stored, versions: new Map(), diagnostics: [...stored.diagnostics, ...diagnostics] };
  const fallBack = (status: "broken" | "untrusted", diagnostics: readonly ForgeDiagnostic[]): ForgedEntry => ({
    ...base,
    status,
    diagnostics,
    ...makeLastGood({ stored, isTrusted, reason: diagnostics.at(-1) }, workspace),
  });
  if (current === undefined) return fallBack("broken", withCure(stored, base.diagnostics));
  if (isDeleted) return { ...base, status: "deleted" };
  if (!isTrusted(current)) return fallBack("untrusted", [...base.diagnostics, describeTrust(stored, current)]);
  const made = make(current, workspace);
  if (made.tool === undefined) {
    return { ...base, status: "broken", diagnostics: [...base.diagnostics, ...made.diagnostics] };
  }
  const earlier = stored.versions.filter((version) => version.label !== current.label && isTrusted(version));
  const versions = new Map(earlier.flatMap((one) => toPair(one.label, make(one, workspace).tool)));
  return {
    ...base,
    status: "live",
    tool: made.tool,
    versions,
    diagnostics: [...base.diagnostics, ...made.diagnostics],
  };
}

interface Spoilt {
  readonly stored: StoredTool;
  readonly isTrusted: TrustedVersions["isTrusted"];
  /** Why the current files are not used. */
  readonly reason: ForgeDiagnostic | undefined;
}

/**
 * The newest version that was made here and is kept unchanged: it stays live while the files above it are edited by hand. Its
 * description says so, because a client knows of a tool only what is in its list.
 */
function makeLastGood(
  { stored, isTrusted, reason }: Spoilt,
  workspace: Workspace,
): Pick<ForgedEntry, "tool" | "versions"> {
  const kept = stored.versions.filter((version) => version.isKept && isTrusted(version));
  const good = kept.at(-1);
  const tool = good && make(good, workspace).tool;
  if (good === undefined || tool === undefined) return { versions: new Map() };
  const earlier = kept.filter((version) => version !== good);
  const why = [reason?.message, reason?.cure].filter((text) => text !== undefined).join(". ");
  return {
    tool: { ...tool, description: `${tool.description}\n(This is version ${good.label}. ${why})` },
    versions: new Map(earlier.flatMap((one) => toPair(one.label, make(one, workspace).tool))),
  };
}

/** What cannot be read can be repaired, or left for a version that is kept. */
function withCure(stored: StoredTool, diagnostics: readonly ForgeDiagnostic[]): readonly ForgeDiagnostic[] {
  const last = lastVersion(stored);
  const other =
    last === undefined
      ? `remove the folder .kitbag/tools/${stored.name}`
      : `go back to a version that is kept: kitbag rollback ${stored.name} ${last}`;
  const index = diagnostics.findLastIndex(({ severity }) => severity === "error");
  return diagnostics.map((one, at) => {
    if (at !== index) return one;
    return { ...one, cure: `${one.cure === undefined ? "Repair it" : one.cure}, or ${other}` };
  });
}

function toPair(label: string, tool: Tool | undefined): readonly (readonly [string, Tool])[] {
  return tool === undefined ? [] : [[label, tool]];
}

interface Made {
  readonly tool?: Tool;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** A pipeline whose steps are not there (yet) is made all the same: it says so when it is called. */
function make({ manifest, folder }: StoredVersion, workspace: Workspace): Made {
  try {
    return { tool: makeTool(manifest, folder, toPipelineOptions(workspace)), diagnostics: [] };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const diagnostic = { code: cause.code, message: cause.message, file: "manifest.json" };
    const tool = cause.code === "pipeline-invalid" ? makeUnresolved(manifest, folder) : undefined;
    if (tool === undefined) return { diagnostics: [{ severity: "error", ...diagnostic }] };
    return { tool, diagnostics: [{ severity: "warning", ...diagnostic, code: unresolved }] };
  }
}

function makeUnresolved(manifest: StoredVersion["manifest"], folder: StoredVersion["folder"]): Tool | undefined {
  try {
    return makeTool(manifest, folder, {});
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return undefined;
  }
}

/** Puts an entry into the workspace in the place of the one before. A tool that the forge did not put there is left alone. */
function place(workspace: Workspace, entry: ForgedEntry, before: ForgedEntry | undefined): ForgedEntry {
  const { tool, versions, stored } = entry;
  const isOwn = before?.tool !== undefined && isThere(workspace, before);
  if (tool === undefined) {
    if (isOwn) workspace.remove(stored.name);
    return entry;
  }
  try {
    const options = { versions: [...versions.values()] };
    if (isOwn) workspace.replace(tool, options);
    else workspace.add(tool, options);
    return entry;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const diagnostic = { severity: "error", code: cause.code, message: cause.message, file: "manifest.json" } as const;
    return { stored, status: "broken", versions: new Map(), diagnostics: [...entry.diagnostics, diagnostic] };
  }
}

/** Whether the files differ from the versions that are kept. */
function isEdited(current: StoredVersion, versions: readonly StoredVersion[]): boolean {
  return !current.isKept && versions.length > 0;
}

function describeTrust({ name, versions }: StoredTool, current: StoredVersion): ForgeDiagnostic {
  const message = isEdited(current, versions)
    ? `What is in the folder of "${name}" does not run: it was changed by hand and is not trusted`
    : `The tool "${name}" does not run: it was not made here and is not trusted`;
  return {
    severity: "warning",
    code: "tool-untrusted",
    message,
    file: "manifest.json",
    cure: `Read it, then run: kitbag trust .kitbag/tools/${name}`,
  };
}

function toStrange({ tools }: ToolsFolder, name: string): ForgedTool {
  const message = "Left out: it is a link, or its name cannot be the name of a tool";
  const diagnostics: ForgeDiagnostic[] = [{ severity: "error", code: "name-invalid", message, file: "" }];
  return { name, directory: `${tools}/${name}`, status: "broken", diagnostics };
}

function toForged({ stored, status, diagnostics }: ForgedEntry): ForgedTool {
  const { name, directory, current, versions } = stored;
  const { description, annotations: hints } = current?.manifest ?? {};
  return {
    name,
    directory,
    status,
    ...(current !== undefined && { version: current.label }),
    ...(current !== undefined && isEdited(current, versions) && { editedByHand: true }),
    ...(description !== undefined && { description }),
    ...(hints !== undefined && { annotations: fromHints(hints) }),
    ...ownershipOf(stored),
    diagnostics,
  };
}

/** Where tools that were made are loaded from, and whose trust counts. */
export interface LoadForgedOptions extends FolderTrustOptions {
  readonly directory: string;
}

/** Puts the tools of a project's `.kitbag/tools` into a workspace as they are now, for those who make none. Nothing is followed. */
export function loadForgedTools(
  workspace: Workspace,
  { directory, ...trust }: LoadForgedOptions,
): Pick<LiveTools, "list" | "refresh"> {
  const folder = createToolsFolder(toRealPath(directory));
  const live = createLiveTools({ workspace, folder, trust: createToolTrust(trust), read: createToolReader() });
  live.refresh();
  return live;
}
