import { join, relative, sep } from "node:path";

import { openRuntimes } from "../runtimes/open-runtimes.ts";
import { toRealPath } from "../skills/folder/to-real-path.ts";
import { resolveKitbagHome } from "../skills/trust/kitbag-home.ts";
import { watchFolders, type FolderWatch } from "../skills/watch/watch-folders.ts";
import { createToolReader } from "./disk/stored-tool.ts";
import { createToolTrust } from "./disk/tool-trust.ts";
import { createToolWriter } from "./disk/tool-writer.ts";
import { createToolsFolder } from "./disk/tools-folder.ts";
import { createAdoption } from "./adopt-tool.ts";
import { createDecisions } from "./decisions.ts";
import { createEdits } from "./edits.ts";
import { defaultPolicy, type ForgeParts } from "./forge-parts.ts";
import type { Forge, ForgeOptions } from "./forge-interface.ts";
import { createLives } from "./lives.ts";
import { createLiveTools } from "./live/live-tools.ts";
import { createBringIn } from "./skills/bring-in.ts";
import { createSkillMaker } from "./skills/create-skill.ts";
import { createSkillLives } from "./skills/skill-lives.ts";
import { createWaitingDrafts } from "./waiting-drafts.ts";

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
    ...createLives(parts),
    ...createAdoption(parts),
    ...createDecisions(parts, skills),
    ...createSkillLives(parts, bringIn),
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
