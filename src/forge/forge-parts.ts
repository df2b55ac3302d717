import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Store } from "../core/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { StoredTool } from "./disk/stored-tool.ts";
import type { ToolTrust, ToolWriter } from "./disk/tool-writer.ts";
import type { ToolsFolder } from "./disk/tools-folder.ts";
import type { ForgeOptions, ForgePolicy } from "./forge-interface.ts";
import type { LiveTools } from "./live/live-tools.ts";
import type { WaitingDrafts } from "./waiting-drafts.ts";

/** What everything in a forge shares. */
export interface ForgeParts {
  readonly workspace: Workspace;
  readonly store: Store | undefined;
  readonly policy: Required<ForgePolicy>;
  readonly author: string | undefined;
  readonly approve: ForgeOptions["approve"];
  readonly folder: ToolsFolder;
  /** The folder of the person's own files. */
  readonly home: string;
  readonly trust: ToolTrust;
  readonly writer: ToolWriter;
  readonly live: LiveTools;
  readonly waiting: WaitingDrafts;
  readonly read: (name: string, directory: string) => StoredTool;
  readonly runtimes: Iterable<Runtime>;
  readonly findSandbox: () => Promise<Sandbox>;
  /** Where modules are kept that were built before. */
  readonly buildCache: string;
}

/** What a policy says where it says nothing. */
export const defaultPolicy: Required<ForgePolicy> = {
  permissions: {},
  uses: [],
  maxBytes: 1024 * 1024,
  maxTools: 1000,
  maxExamples: 50,
  maxReplays: 20,
  exampleLimitMs: 30_000,
};
