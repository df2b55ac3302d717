import { KitbagError } from "../../core/errors.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { checkTrust, type TrustState } from "./check-trust.ts";

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

/** Tells whether an answer is a yes; anything unclear is a no. */
export function isYes(answer: string | undefined): boolean {
  return answer !== undefined && /^y(?:es)?$/iu.test(answer);
}
