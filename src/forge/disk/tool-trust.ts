import { isKitbagError } from "../../core/errors.ts";
import type { CodeFolder } from "../../core/script-code.ts";
import { createFolderTrust, toDigests, type FolderTrustOptions } from "../../skills/trust/folder-trust.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import type { ForgeDiagnostic } from "../forge-interface.ts";
import type { StoredTool, StoredVersion } from "./stored-tool.ts";

/** Which versions of which tools may run: those that were made here, and those in folders that this person trusts. */
export interface ToolTrust {
  /** The file that decides: whoever follows tools watches it. */
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
