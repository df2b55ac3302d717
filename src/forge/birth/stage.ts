import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { CodeFolder } from "../../core/script-code.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import type { ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { placeFile, writeFiles, type FileMap } from "../disk/durable-files.ts";
import { manifestFile, renderManifest } from "../disk/manifest.ts";
import { toPlaces } from "../drafts/languages.ts";
import type { ToolDraft } from "../tool-draft.ts";

/** A folder outside the project in which a draft is built and tried. */
export interface Stage {
  /** The files with this manifest: what will be kept, byte for byte. */
  finish(manifest: ToolJson): CodeFolder;
  /** All files, as they are now. */
  files(): FileMap;
  remove(): void;
}

/** What WASM modules are built with. */
export interface BuildParts {
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
export async function openStage(draft: ToolDraft, build: BuildParts): Promise<Stage> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-forge-")));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    writeFiles(directory, toFiles(draft));
    if ("code" in draft) await buildModule(directory, draft, build);
  } catch (cause) {
    remove();
    throw cause;
  }
  return {
    remove,
    finish(manifest) {
      placeFile(join(directory, manifestFile), new TextEncoder().encode(renderManifest(manifest)));
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
