import type { Failure } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { describeThrown } from "../describe-thrown.ts";
import { isObject } from "../find-wrong-option.ts";
import type { Call } from "./call.ts";
import type { InjectedRecord } from "./injection.ts";
import { raceStop, type Race } from "./race-stop.ts";

/** The values for one call, and the texts in them that must not be shown. */
export interface CollectedValues {
  readonly values: InjectedRecord;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Collects what the tool declared, and nothing else: from the call, then the tool, then the workspace. */
export async function collectInjected(call: Call): Promise<Race<CollectedValues>> {
  try {
    const ofWorkspace = await collectOfWorkspace(call);
    if (!ofWorkspace.ok) return ofWorkspace;
    return pick(call, [call.root.options.injected, call.found.injected, ofWorkspace.value]);
  } catch (cause) {
    const reason = `the injected values could not be made: ${describeThrown(cause)}`;
    return refuse(call.fail("tool-failed", { tool: call.address, reason }).error);
  }
}

async function collectOfWorkspace(call: Call): Promise<Race<InjectedRecord | undefined>> {
  const { injected } = call.host;
  if (typeof injected !== "function") return { ok: true, value: injected };
  const request = { id: call.id, tool: call.address, ...(call.user !== undefined && { user: call.user }) };
  const race = await raceStop(call, Promise.resolve(injected(request)));
  if (race.ok && !isObject(race.value)) throw new TypeError("the function gave no object");
  return race;
}

function pick(call: Call, sources: readonly (InjectedRecord | undefined)[]): Race<CollectedValues> {
  // Without a prototype, so that "__proto__" is just a name.
  const values = Object.create(null) as Record<string, unknown>;
  const secrets = Object.create(null) as Record<string, string>;
  const missing: string[] = [];
  for (const name of call.entry.tool.inject) {
    const given = sources.find(
      (source) => source !== undefined && Object.hasOwn(source, name) && source[name] !== undefined,
    );
    if (given === undefined) missing.push(name);
    else {
      values[name] = given[name];
      collectTexts(name, given[name], secrets, 0);
    }
  }
  if (missing.length === 0) return { ok: true, value: { values, secrets } };
  return refuse(call.fail("injection-missing", { tool: call.address, names: missing }).error);
}

function refuse(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure };
}

/** How deep texts are looked for. */
const deepest = 3;

/** A text, or the texts in a list or a plain object: keys and passwords come in all of them. */
function collectTexts(name: string, value: unknown, texts: Record<string, string>, depth: number): void {
  if (typeof value === "string") texts[name] = value;
  else if (depth < deepest && (Array.isArray(value) || isRecord(value))) {
    for (const [key, inner] of Object.entries(value)) collectTexts(`${name}.${key}`, inner, texts, depth + 1);
  }
}
