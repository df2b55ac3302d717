import { isPlain } from "../../core/json.ts";
import type { FailedOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { Call } from "./call.ts";

/** The values for one call, and the texts in them that must not be shown. */
export type CollectedValues =
  | {
      readonly ok: true;
      readonly values: Readonly<Record<string, unknown>>;
      readonly secrets: Readonly<Record<string, string>>;
    }
  | { readonly ok: false; readonly outcome: FailedOutcome };

const nothing: CollectedValues = { ok: true, values: Object.freeze({}), secrets: {} };

/** Collects what the tool declared, and nothing else: from the call, then the tool, then the workspace. */
export async function collectInjected(call: Call, tool: Tool): Promise<CollectedValues> {
  if (tool.inject.length === 0) return nothing;
  let sources: (Readonly<Record<string, unknown>> | undefined)[];
  try {
    sources = [call.root.options.injected, call.entry?.injected, await ofWorkspace(call)];
  } catch (cause) {
    const reason = `the injected values could not be made: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { ok: false, outcome: call.fail("tool-failed", { tool: call.address, reason }) };
  }
  const values: Record<string, unknown> = {};
  const secrets: Record<string, string> = {};
  const missing: string[] = [];
  for (const name of tool.inject) {
    const source = sources.find((given) => given !== undefined && Object.hasOwn(given, name));
    if (source === undefined) missing.push(name);
    else {
      values[name] = source[name];
      collectTexts(name, source[name], secrets, 0);
    }
  }
  if (missing.length === 0) return { ok: true, values, secrets };
  return { ok: false, outcome: call.fail("injection-missing", { tool: call.address, names: missing }) };
}

async function ofWorkspace(call: Call): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { injected } = call.host;
  if (typeof injected !== "function") return injected;
  return injected({ id: call.id, tool: call.address, ...(call.user !== undefined && { user: call.user }) });
}

/** A text, or the texts in a plain object: keys and passwords come in both. */
function collectTexts(name: string, value: unknown, texts: Record<string, string>, depth: number): void {
  if (typeof value === "string") texts[name] = value;
  else if (typeof value === "object" && value !== null && isPlain(value) && depth < 3) {
    for (const [key, inner] of Object.entries(value)) collectTexts(`${name}.${key}`, inner, texts, depth + 1);
  }
}
