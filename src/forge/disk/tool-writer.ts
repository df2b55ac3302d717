import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { readFolder } from "../../skills/folder/read-folder.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import type { ForgeEvent, ForgeDiagnostic } from "../forge-interface.ts";
import { appendLine, replaceFolder, writeFileAtomically, type FileMap } from "../../platform/files.ts";
import { manifestFile, renderManifest } from "./manifest.ts";
import { historyFile, type StoredTool, type StoredVersion } from "./stored-tool.ts";
import { explainUnwritable, type ToolsFolder } from "./tools-folder.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { CodeFolder } from "../../core/script-code.ts";
import { createFolderTrust, toDigests, type FolderTrustOptions } from "../../skills/trust/folder-trust.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";

/** A step in the life of a tool. */
export interface ToolStep {
  readonly name: string;
  readonly event: Omit<ForgeEvent, "at">;
  /** The files of a version that is new, with its manifest; without them, one that is kept. */
  readonly files?: FileMap;
  readonly isDeleted?: boolean;
  /** Whether the version that is new may run. @default true */
  readonly isTrusted?: boolean;
  /**
   * Looks at what is there, while no other program writes. Throws if the step must not be made any more.
   */
  readonly check: (tool: StoredTool | undefined) => void;
}

/** Writes tools down. */
export interface ToolWriter {
  /**
   * Makes a step: the copy of the version first, then the manifest, which is what counts, then the files beside it. An
   * interruption leaves the tool as it was before or as it is afterwards. Only one program does so at a time.
   */
  write(step: ToolStep): Promise<void>;
}

/** Makes the writer of a folder of tools. */
export function createToolWriter(
  folder: ToolsFolder,
  trust: ToolTrust,
  read: (name: string, directory: string) => StoredTool,
): ToolWriter {
  async function commit(step: ToolStep): Promise<void> {
    const directory = folder.toolDirectory(step.name);
    const before = existsSync(directory) ? read(step.name, directory) : undefined;
    const stored = before?.isUnfinished === true ? undefined : before;
    step.check(stored);
    folder.ensure(join(directory, "versions"));
    await keepVersion(step, directory, stored);
    if (stored !== undefined && stored.current === undefined) setAside(directory);
    const copy = join(directory, "versions", step.event.version);
    placeTop(directory, copy, step.isDeleted === true);
    appendLine(join(directory, historyFile), JSON.stringify({ ...step.event, at: Date.now() }));
  }

  /** Puts the copy in place and lets it run; what could run before still can, though the folder is not what it was. */
  async function keepVersion(step: ToolStep, directory: string, stored: StoredTool | undefined): Promise<void> {
    const copy = join(directory, "versions", step.event.version);
    if (step.files !== undefined) replaceFolder(copy, step.files);
    const judged = stored && trust.judge(stored);
    const trusted = (stored?.versions ?? []).filter((version) => judged?.isTrusted(version) === true);
    const isFresh = step.files !== undefined && step.isTrusted !== false;
    const fresh = isFresh ? [readFolder(copy, { takesMarks: false })] : [];
    await trust.trust([...trusted.map((version) => version.folder), ...fresh]);
  }

  return {
    async write(step) {
      folder.ensure(folder.tools);
      const root = realpathSync(folder.tools);
      try {
        await withFileLock(join(root, `.${step.name}.lock`), () => commit(step));
      } catch (cause) {
        throw explainUnwritable(root, cause);
      }
    },
  };
}

/** Makes what stands at the top of a tool's folder the same as a copy: the manifest first. */
function placeTop(directory: string, copy: string, isDeleted: boolean): void {
  const paths = readFolder(copy, { takesMarks: false, keepsContents: false }).files.map(({ path }) => path);
  const manifest = readFileSync(join(copy, manifestFile));
  writeFileAtomically(join(directory, manifestFile), isDeleted ? disable(manifest) : manifest, { mode: 0o644 });
  removeOthers(directory, new Set([...paths, ...paths.map((path) => path.split("/", 1)[0] as string)]));
  for (const path of paths) {
    if (path === manifestFile) continue;
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileAtomically(target, readFileSync(join(copy, path)), { mode: 0o644 });
  }
}

/** Keeps a copy of what cannot be read, beside the versions: `versions/broken-1`. */
function setAside(directory: string): void {
  const versions = join(directory, "versions");
  const taken = new Set(readdirSync(versions));
  let number = 1;
  while (taken.has(`broken-${number}`)) number += 1;
  for (const name of readdirSync(directory).filter((one) => !isOwn(one))) {
    cpSync(join(directory, name), join(versions, `broken-${number}`, name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

function isOwn(name: string): boolean {
  return name === "versions" || name === historyFile || name.startsWith(".");
}

/** Takes away what belongs to another version. Files edited by hand have been kept as a version before. */
function removeOthers(directory: string, wanted: ReadonlySet<string>): void {
  for (const name of readdirSync(directory)) {
    if (!isOwn(name) && !wanted.has(name)) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

function disable(manifest: Uint8Array): Uint8Array {
  const value = JSON.parse(new TextDecoder().decode(manifest)) as StoredVersion["manifest"];
  return new TextEncoder().encode(renderManifest({ ...value, disabled: true }));
}

/** Which versions of which tools may run: those that were made here, and those in folders that this person trusts. */
export interface ToolTrust {
  /** The file that decides: watchers of tools watch it too. */
  readonly path: string | undefined;
  /** The versions that may run. */
  judge(tool: StoredTool): TrustedVersions;
  /** Whether this very folder may run, in exactly this state. */
  mayRun(folder: CodeFolder): boolean;
  /** Remembers that these folders may run, in exactly this state. Before anything refers to them. */
  trust(folders: readonly CodeFolder[]): Promise<void>;
}

/** What {@link ToolTrust.judge} answers. */
export interface TrustedVersions {
  isTrusted(version: StoredVersion): boolean;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** Makes the judge of a person's tools. */
export function createToolTrust({ home = resolveKitbagHome(process.env) }: FolderTrustOptions): ToolTrust {
  const folderTrust = createFolderTrust({ home });

  return {
    path: folderTrust.path,
    mayRun(folder) {
      try {
        return folderTrust({ ...folder, scope: "project" }).status === "trusted";
      } catch (cause) {
        // A list that cannot be read lets nothing run.
        if (!isKitbagError(cause)) throw cause;
        return false;
      }
    },
    judge(tool) {
      const diagnostics: ForgeDiagnostic[] = [];
      const ask = (folder: CodeFolder): boolean => {
        try {
          return folderTrust({ ...folder, scope: "project" }).status === "trusted";
        } catch (cause) {
          if (!isKitbagError(cause)) throw cause;
          diagnostics.push({ severity: "error", code: "trust-invalid", message: cause.message, file: "trust.json" });
          return false;
        }
      };
      const isWhole = ask(tool);
      return { isTrusted: (version) => isWhole || (version.isKept && ask(version.folder)), diagnostics };
    },
    async trust(folders) {
      if (folders.length === 0) return;
      await updateTrust(home, (list) => {
        for (const { directory, files } of folders) list.folders.set(directory, toDigests(files));
      });
    },
  };
}
