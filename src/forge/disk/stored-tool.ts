import type { JsonValue } from "../../core/json.ts";
import type { CodeFolder } from "../../core/script-code.ts";
import type { SkillFile } from "../../core/skill.ts";
import { readFolder, type FolderSnapshot } from "../../skills/folder/read-folder.ts";
import { hasSameMarks } from "../../skills/folder/folder-marks.ts";
import { toFolderDigest } from "../../platform/digest.ts";
import { parseToolJson, type ToolJson } from "../../skills/manifests/read-tool-json.ts";
import type { ForgeDiagnostic, ForgeEvent, VersionStep } from "../forge-interface.ts";
import { compareVersions, isVersion, stepFrom } from "../versions/next-version.ts";
import { isSameManifest, manifestFile } from "./manifest.ts";

/** The file in which what happened to a tool stands, one line each. */
export const historyFile = "history.jsonl";

/** One version of a tool, as it is on disk. */
export interface StoredVersion {
  /** Files edited by hand have a label of their own, under which they would be kept: a label means what is kept under it. */
  readonly label: string;
  readonly manifest: ToolJson;
  readonly folder: CodeFolder;
  /** The text of its files, without those that are too large or no text. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** It is the copy that is kept, and not files that were edited by hand. */
  readonly isKept: boolean;
}

/** What is in the folder of a tool. */
export interface StoredTool {
  readonly name: string;
  readonly directory: string;
  /** All files, for those who say whether they may run. */
  readonly files: readonly SkillFile[];
  readonly digest: string;
  /** The one that the manifest at the top says; none if it cannot be read. */
  readonly current?: StoredVersion;
  /** Those that were live at some time, the oldest first; the current one may be among them. */
  readonly versions: readonly StoredVersion[];
  /** The labels of all folders with a version, also of such that were never live. */
  readonly labels: readonly string[];
  readonly history: readonly ForgeEvent[];
  readonly isDeleted: boolean;
  /** Its creation did not finish: there is nothing in it yet. */
  readonly isUnfinished: boolean;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** Versions are copies: a tool with a long history may be large. */
const limits = { maxItems: 100_000, maxBytes: 2 * 1024 * 1024 * 1024 };

/** Reads the folders of tools; one that did not change is not read twice. */
export function createToolReader(): (name: string, directory: string) => StoredTool {
  const known = new Map<string, { readonly snapshot: FolderSnapshot; readonly stored: StoredTool }>();
  return (name, directory) => {
    const before = known.get(directory);
    const marks = before?.snapshot.marks;
    if (before !== undefined && marks !== undefined && hasSameMarks(directory, marks)) return before.stored;
    const snapshot = readFolder(directory, limits);
    const stored = toStored(name, snapshot);
    known.set(directory, { snapshot, stored });
    return stored;
  };
}

function toStored(name: string, snapshot: FolderSnapshot): StoredTool {
  const { directory, files, digest } = snapshot;
  const { top, byLabel } = splitFiles(snapshot);
  const base = { name, directory, files, digest, labels: [...byLabel.keys()] };
  const { history, diagnostics: wrongLines } = parseHistory(toText(snapshot, historyFile));
  const kept = [...byLabel].flatMap(([label, folder]) => toVersion(label, folder, true) ?? []);
  const diagnostics: ForgeDiagnostic[] = [...snapshot.diagnostics, ...wrongLines];
  const read = readTop(name, top);
  const current = read.ok ? pickCurrent(read.version, kept, base.labels) : undefined;
  const live = new Set(history.map((event) => event.version));
  // A folder that came without its history still has its versions.
  const versions = kept
    .filter(({ label }) => history.length === 0 || live.has(label) || label === current?.label)
    .toSorted((left, right) => compareVersions(left.label, right.label));
  return {
    ...base,
    ...(current !== undefined && { current }),
    versions,
    history,
    isDeleted: read.ok && read.version.manifest.disabled === true,
    isUnfinished: top.folder.files.length === 0 && history.length === 0,
    diagnostics: read.ok ? diagnostics : [...diagnostics, ...read.diagnostics],
  };
}

interface Part {
  readonly folder: CodeFolder;
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** Tells whether a file is what the forge keeps beside a tool, and not a part of it. */
export function isOwnPath(path: string): boolean {
  return path === historyFile || path.startsWith("versions/");
}

const versionPath = /^versions\/([^/]+)\/(.+)$/u;

function splitFiles({ directory, files, contents }: FolderSnapshot): { top: Part; byLabel: Map<string, Part> } {
  const top: SkillFile[] = [];
  const parts = new Map<string, SkillFile[]>();
  for (const file of files) {
    const [, label, path] = versionPath.exec(file.path) ?? [];
    if (label !== undefined && path !== undefined && isVersion(label)) {
      parts.set(label, [...(parts.get(label) ?? []), { ...file, path }]);
    } else if (!isOwnPath(file.path)) top.push(file);
  }
  const toPart = (own: readonly SkillFile[], prefix: string): Part => ({
    folder: {
      directory: prefix === "" ? directory : `${directory}/${prefix}`.replace(/\/$/u, ""),
      files: own,
      digest: toFolderDigest(own),
    },
    contents: new Map(
      own.flatMap(({ path }) => {
        const bytes = contents.get(`${prefix}${path}`);
        return bytes === undefined ? [] : [[path, bytes] as const];
      }),
    ),
  });
  const byLabel = new Map([...parts].map(([label, own]) => [label, toPart(own, `versions/${label}/`)]));
  return { top: toPart(top, ""), byLabel };
}

type TopReading =
  | { readonly ok: true; readonly version: StoredVersion }
  | { readonly ok: false; readonly diagnostics: readonly ForgeDiagnostic[] };

function readTop(name: string, { folder, contents }: Part): TopReading {
  const bytes = contents.get(manifestFile);
  if (bytes === undefined) {
    const message = `Cannot use the tool: there is no ${manifestFile} in its folder`;
    return { ok: false, diagnostics: [{ severity: "error", code: "manifest-missing", message, file: manifestFile }] };
  }
  const parsed = parseToolJson(manifestFile, bytes);
  if (!parsed.ok) return parsed;
  const manifest = parsed.value;
  if (manifest.name !== name) {
    const message = `Cannot use the tool: its folder is "${name}" and its manifest says "${manifest.name}"`;
    return { ok: false, diagnostics: [{ severity: "error", code: "name-different", message, file: manifestFile }] };
  }
  const label = isVersion(manifest.version) ? manifest.version : firstVersion;
  return { ok: true, version: { label, manifest: { ...manifest, version: label }, folder, contents, isKept: false } };
}

/** The version of a tool that is new, or does not say. */
export const firstVersion = "1.0.0";

function toVersion(label: string, { folder, contents }: Part, isKept: boolean): StoredVersion | undefined {
  const bytes = contents.get(manifestFile);
  const parsed = bytes === undefined ? undefined : parseToolJson(manifestFile, bytes);
  if (parsed?.ok !== true || parsed.value.version !== label) return undefined;
  return { label, manifest: parsed.value, folder, contents, isKept };
}

/**
 * The copy of the version that the manifest names, if nothing at the top was written by hand. A change that was interrupted, or
 * goes on at this moment, has left files of another version beside it.
 */
function pickCurrent(top: StoredVersion, kept: readonly StoredVersion[], labels: readonly string[]): StoredVersion {
  const copy = kept.find(({ label }) => label === top.label);
  if (copy === undefined || !isSameManifest(copy.manifest, top.manifest)) return relabel(top, labels);
  const known = new Set(kept.flatMap(({ folder }) => folder.files.map(({ path, digest }) => `${digest} ${path}`)));
  const own = top.folder.files.filter(({ path }) => path !== manifestFile);
  return own.every(({ path, digest }) => known.has(`${digest} ${path}`)) ? copy : relabel(top, labels);
}

/** Gives what was written by hand the next label, if another version is kept under the one that its manifest says. */
function relabel(top: StoredVersion, labels: readonly string[]): StoredVersion {
  const newest = labels.toSorted(compareVersions).at(-1);
  if (newest === undefined || !labels.includes(top.label)) return top;
  const label = stepFrom(newest, "patch");
  return { ...top, label, manifest: { ...top.manifest, version: label } };
}

function toText({ contents }: FolderSnapshot, path: string): string {
  return new TextDecoder().decode(contents.get(path) ?? new Uint8Array());
}

const eventTypes: ReadonlySet<unknown> = new Set(["create", "update", "rollback", "delete", "restore"]);

/** Reads what happened, one line each; what cannot be read is left out and told. */
export function parseHistory(text: string): {
  history: readonly ForgeEvent[];
  diagnostics: readonly ForgeDiagnostic[];
} {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const history = lines.flatMap((line) => parseEvent(line) ?? []);
  if (history.length === lines.length) return { history, diagnostics: [] };
  const message = `Left out ${lines.length - history.length} lines of ${historyFile} that cannot be read`;
  return { history, diagnostics: [{ severity: "warning", code: "history-broken", message, file: historyFile }] };
}

function isStep(value: unknown): value is VersionStep {
  return value === "major" || value === "minor" || value === "patch";
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function parseEvent(line: string): ForgeEvent | undefined {
  try {
    const { type, version, from, at, author, step, reasons, source } = JSON.parse(line) as Record<string, JsonValue>;
    if (!eventTypes.has(type) || !isVersion(version) || typeof at !== "number") return undefined;
    return {
      type: type as ForgeEvent["type"],
      version,
      at,
      ...(isVersion(from) && { from }),
      ...(isStep(step) && { step }),
      ...(isTexts(reasons) && { reasons }),
      ...(typeof author === "string" && { author }),
      ...(typeof source === "string" && { source }),
    };
  } catch {
    return undefined;
  }
}

/** The version that is live, or was so last if what stands in its place now cannot be read; none if nothing is kept. */
export function lastVersion({ current, versions, history }: StoredTool): string | undefined {
  if (current !== undefined) return current.label;
  const kept = new Set(versions.map(({ label }) => label));
  return history.findLast(({ version }) => kept.has(version))?.version ?? versions.at(-1)?.label;
}
