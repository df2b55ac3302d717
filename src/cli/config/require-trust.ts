import { KitbagError } from "../../core/errors.ts";
import { updateTrust, loadTrust } from "../../skills/trust/trust-file.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { toPrintable } from "../printable.ts";
import { isYes, type Terminal } from "../terminal.ts";
import { findImports } from "./find-imports.ts";

/**
 * Answers with the digests under which a configuration may run. If it is not trusted and a person is there, asks once and
 * remembers a yes. The person is told which `keys` need trust.
 *
 * @throws {KitbagError} `config-untrusted` if it is not trusted.
 */
export async function requireTrust(
  path: string,
  home: string,
  terminal: Pick<Terminal, "canAsk" | "ask">,
  keys: readonly string[] = [],
): Promise<Digests> {
  const state = checkTrust(path, home);
  if (state.status === "trusted") return state.files;
  if (!terminal.canAsk || !isYes(await terminal.ask(toPrintable(renderQuestion(path, state, keys))))) {
    throw new KitbagError("config-untrusted", { path, changed: state.changed, ...(keys.length > 0 && { keys }) });
  }
  // What the person saw is what is trusted: if a file has changed meanwhile, loading it fails.
  await updateTrust(home, ({ configs }) => configs.set(path, state.files));
  return state.files;
}

function renderQuestion(path: string, { status, files, changed }: TrustState, keys: readonly string[]): string {
  const others = [...files.keys()].filter((file) => file !== path);
  return [
    status === "changed" ? "This configuration has changed since you trusted it:" : "This configuration is new here:",
    `  ${path}`,
    ...(others.length > 0 ? ["It loads:", ...others.map((file) => `  ${file}`)] : []),
    ...(changed.length > 0 ? ["Changed:", ...changed.map((file) => `  ${file}`)] : []),
    `It ${describePower(path, keys)}. Trust it as it is now? [y/N] `,
  ].join("\n");
}

/** What a configuration can do once it is trusted, as the end of a sentence; of data, by which keys. */
export function describePower(path: string, keys: readonly string[]): string {
  return path.endsWith(".json")
    ? `is data, and sets what needs trust: ${keys.join(", ")}. That can start MCP servers, send prompts and keys to a model, say where packages come from and what tools may touch that models make, and loosen limits`
    : "runs as a program with all your rights";
}

/** Whether a configuration may run. */
interface TrustState {
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
