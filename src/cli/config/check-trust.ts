import { loadTrust } from "../../skills/trust/trust-file.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { findImports } from "./find-imports.ts";

/** Whether a configuration may run. */
export interface TrustState {
  readonly status: "trusted" | "untrusted" | "changed";
  /** The configuration and the project files it imports, as they are now. */
  readonly files: Digests;
  /** The files that are not what they were when the configuration was trusted. */
  readonly changed: readonly string[];
}

/**
 * Compares a configuration, and everything of the project that it imports, with what was trusted. Runs nothing.
 *
 * @throws {KitbagError} `config-invalid` if a file, or the list of what is trusted, cannot be used.
 */
export function checkTrust(path: string, home: string): TrustState {
  const files = findImports(path);
  const trusted = loadTrust(home).configs.get(path);
  if (trusted === undefined) return { status: "untrusted", files, changed: [] };
  const changed = [...new Set([...files.keys(), ...trusted.keys()])].filter(
    (file) => files.get(file) !== trusted.get(file),
  );
  return { status: changed.length === 0 ? "trusted" : "changed", files, changed };
}
