import { readAgents } from "../agents/read-agents.ts";
import { findSkillCode } from "../code/code-file.ts";
import { parseSkillDocument } from "../document/parse-skill-document.ts";
import type { SkillReading } from "../document/skill-document.ts";
import type { FolderSnapshot } from "../folder/read-folder.ts";
import { deriveAllScripts, startScripts, type SkillScripts, type StartedScripts } from "../scripts/derive-scripts.ts";
import { decodeScript } from "../scripts/prepare-scripts.ts";
import type { PythonReader } from "../scripts/python/python-reader.ts";
import { readManifest } from "./read-manifest.ts";
import type { SkillFacts } from "./skill-facts.ts";

/** A folder to read, and the name that its skill has if it says none. */
export interface FolderToRead {
  readonly snapshot: FolderSnapshot;
  readonly folderName: string;
  /** What {@link startFacts} began. @default nothing */
  readonly started?: StartedScripts | undefined;
}

/** Begins to read the scripts of a folder, so that a helper reads Python while we look at other folders. */
export function startFacts(snapshot: FolderSnapshot, pythonReader: PythonReader): StartedScripts {
  const { name = "SKILL.md", bytes = "" } = findDocument(snapshot);
  const instructions = { text: decodeScript(bytes).text, file: name };
  return startScripts({ files: toScriptFiles(snapshot), instructions }, pythonReader);
}

/** How folders are read. */
export interface ReadFactsOptions {
  readonly spec: boolean;
  /** @default one for these folders */
  readonly pythonReader?: PythonReader;
}

/** Reads what the files of these folders say. Runs nothing that is in them. */
export async function readFacts(folders: readonly FolderToRead[], options: ReadFactsOptions): Promise<SkillFacts[]> {
  const read = folders.map(({ snapshot, folderName, started }) => {
    const manifest = readManifest(snapshot);
    const code = findSkillCode(snapshot.contents);
    const canLack = manifest.manifest !== undefined || code !== undefined;
    const reading = readDocument(snapshot, folderName, { spec: options.spec, canLack });
    return { snapshot, manifest, reading, code, started, brought: readAgents(snapshot) };
  });
  const derived = await deriveAllScripts(
    read.map(({ snapshot, reading, started }) => toScripts(snapshot, reading, started)),
    options.pythonReader === undefined ? {} : { pythonReader: options.pythonReader },
  );
  return read.map(({ snapshot, manifest, reading, code, brought }, index) => ({
    ...(reading.document !== undefined && { document: reading.document }),
    ...(manifest.manifest !== undefined && { manifest: manifest.manifest }),
    ...(code !== undefined && { code }),
    scripts: derived[index]?.scripts ?? [],
    ...(brought.agents.length > 0 && { agents: brought.agents }),
    diagnostics: [...snapshot.diagnostics, ...reading.diagnostics, ...manifest.diagnostics],
    scriptDiagnostics: [...(derived[index]?.diagnostics ?? []), ...brought.diagnostics],
  }));
}

function toScriptFiles({ contents }: FolderSnapshot): SkillScripts["files"] {
  return Array.from(contents, ([path, content]) => ({ path, content }));
}

function toScripts(
  snapshot: FolderSnapshot,
  { document }: SkillReading,
  started: StartedScripts | undefined,
): SkillScripts {
  return {
    files: started === undefined ? toScriptFiles(snapshot) : [],
    ...(started !== undefined && { started }),
    ...(document !== undefined && {
      instructions: { text: document.body, file: document.file, line: document.bodyLine },
    }),
  };
}

interface DocumentOptions {
  readonly spec: boolean;
  /** A manifest or code says what the skill is. */
  readonly canLack: boolean;
}

/** `SKILL.md` before any other spelling. */
function findDocument({ files, contents }: FolderSnapshot): { readonly name?: string; readonly bytes?: Uint8Array } {
  const names = files.map((file) => file.path).filter((path) => path.toLowerCase() === "skill.md");
  const name = names.includes("SKILL.md") ? "SKILL.md" : names[0];
  const bytes = name === undefined ? undefined : contents.get(name);
  return { ...(name !== undefined && { name }), ...(bytes !== undefined && { bytes }) };
}

/** A folder that a manifest makes a tool, or code a skill, needs none. */
function readDocument(snapshot: FolderSnapshot, folderName: string, { spec, canLack }: DocumentOptions): SkillReading {
  const { name, bytes } = findDocument(snapshot);
  if (name === undefined || bytes === undefined) {
    if (canLack || snapshot.diagnostics.some((one) => one.severity === "error")) return { diagnostics: [] };
    const lost = snapshot.diagnostics.find(({ file }) => file.toLowerCase() === "skill.md");
    const message =
      lost?.message ?? (name === undefined ? "There is no SKILL.md in the folder" : "SKILL.md is larger than 1 MiB");
    return { diagnostics: [{ severity: "error", code: "file-missing", message, file: "SKILL.md" }] };
  }
  return parseSkillDocument(bytes, { file: name, directoryName: folderName, spec });
}
