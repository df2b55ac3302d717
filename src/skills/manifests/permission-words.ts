import type { Diagnostic } from "../../core/diagnostics.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";

/** The words that other systems use for permissions, and what they mean here. */
const words: Readonly<Record<string, Permissions>> = {
  http_client: { network: ["*"] },
  websocket_client: { network: ["*"] },
  file_read: { read: ["."] },
  file_write: { read: ["."], write: ["."] },
  // The variables are those that the scripts are seen to read.
  env_read: {},
  config_read: {},
  // State belongs to each tool and needs no permission.
  memory_read: {},
  memory_write: {},
};

/** Permissions in our own words. */
export interface MappedPermissions {
  readonly permissions: Permissions;
  readonly grantsSeenEnvironment: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Translates other systems' permission words. One that nothing here can enforce is refused by name. */
export function mapPermissionWords(file: string, given: readonly string[]): MappedPermissions {
  const known = given.filter((word) => Object.hasOwn(words, word));
  const unknown = given.filter((word) => !Object.hasOwn(words, word));
  return {
    permissions: joinPermissions(known.map((word) => words[word] ?? {})),
    grantsSeenEnvironment: known.includes("env_read") || known.includes("config_read"),
    diagnostics: unknown.map((word) => ({
      severity: "error",
      code: "permission-unknown",
      message: `Cannot use ${file}: nothing here enforces the permission "${word}"`,
      file,
      cure: `use one of ${Object.keys(words).join(", ")}, or write kitbag.toml`,
    })),
  };
}
