import { join } from "node:path";

import type { Skill, SkillFile } from "../../core/skill.ts";
import type { Store } from "../../core/store.ts";
import {
  createVersions,
  type VersionNotes,
  type Versions,
  type VersionSource,
} from "../../records/versions/versions.ts";
import { tellOne } from "../listeners.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { Workspace } from "../workspace.ts";
import { KitbagError } from "../../core/errors.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { toData } from "../registry/tool-digest.ts";

/** What may be said when versions are kept. */
export interface KeepVersionsOptions {
  /** Who makes the changes. */
  readonly author?: string;
  /** Told of what could not be kept, such as a file that changed in between. @default failures are ignored */
  readonly onError?: (cause: unknown, address: string) => void;
}

/** Versions that are kept while a workspace changes. */
export interface KeptVersions {
  readonly versions: Versions;
  /** Answers when everything that was live so far is kept, or could not be. */
  settled(): Promise<void>;
  stop(): void;
}

/**
 * Keeps in `store` a version of every tool that is available in `workspace` and of every skill that is open there or in one of its
 * sessions, with its tools: from now on, and whenever one changes.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, memoryStore } from "kitbag";
 * import { keepVersions } from "kitbag/store";
 *
 * const workspace = createWorkspace();
 * const kept = keepVersions(workspace, memoryStore());
 * workspace.add(defineTool({ name: "now", description: "Tells the time", version: "1.0.0", run: () => Date.now() }));
 * await kept.settled();
 * console.assert((await kept.versions.current("now"))?.label === "1.0.0");
 * ```
 */
export function keepVersions(workspace: Workspace, store: Store, options: KeepVersionsOptions = {}): KeptVersions {
  const versions = createVersions(store);
  let queue = Promise.resolve();

  /** One after the other: the current version of an address is the one that was live last. */
  function keep(address: string, source: VersionSource, label: string | undefined): void {
    const { author, onError } = options;
    const notes: VersionNotes = { ...(label !== undefined && { label }), ...(author !== undefined && { author }) };
    const keepOne = async (): Promise<void> => {
      try {
        await versions.keep(address, source, notes);
      } catch (cause) {
        // One that throws must not keep the next version from being kept.
        if (onError !== undefined) tellOne((error: unknown) => onError(error, address), cause);
      }
    };
    queue = queue.then(keepOne);
  }

  function keepTools(tools: readonly RegisteredTool[]): void {
    for (const { address, tool } of tools) keep(address, fromTool(tool), tool.version);
  }

  /** With its tools: they are live as long as it is, also where only a session has it open. */
  function keepSkill(skill: Skill): void {
    const own = [...skill.tools, ...skill.reuses].map(({ name }) => workspace.getTool(`${skill.name}/${name}`));
    keepTools(own.filter((entry) => entry !== undefined));
    keep(skill.name, fromSkill(skill), skill.version);
  }

  const isOfNoSkill = ({ source }: RegisteredTool): boolean => source !== "skill";
  keepTools(workspace.getAvailableTools().filter(isOfNoSkill));
  for (const { skill, active } of workspace.getSkills()) if (active) keepSkill(skill);
  const stops = [
    workspace.onChange(({ added, replaced }) => keepTools([...added, ...replaced].filter(isOfNoSkill))),
    workspace.onOpen(keepSkill),
  ];
  return {
    versions,
    settled: () => queue,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** What a version of a tool is made of: what it says of itself, and the script or module that is its code. */
export function fromTool(tool: Tool): VersionSource {
  // A tool that knows no folder, as one of a WASM module, still has the digest of its file in the definition.
  const { folder, path } = tool.code as Partial<ScriptCode>;
  const files = folder?.files.filter((file) => file.path === path).map((file) => toFile(folder.directory, file));
  return { definition: toData({ ...tool }), files: files ?? [] };
}

/** What a version of a skill is made of: what it says of itself and its tools, and every file of its folder. */
export function fromSkill(skill: Skill): VersionSource {
  const { folder, ...data } = skill;
  return { definition: toData(data), files: folder?.files.map((file) => toFile(folder.directory, file)) ?? [] };
}

function toFile(directory: string, { path, bytes, digest }: SkillFile): VersionSource["files"][number] {
  return {
    path,
    bytes,
    digest,
    read() {
      // More than there should be would not have the digest anyway.
      const reading = readRegularFile(join(directory, path), { maxBytes: bytes });
      if (!reading.ok) throw new KitbagError("script-changed", { path });
      return reading.bytes;
    },
  };
}
