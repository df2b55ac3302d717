import type { JsonValue } from "../../core/json.ts";
import { toSourceKey, type McpDefinition, type McpSource } from "../../core/mcp-source.ts";
import type { Tool } from "../../core/tool.ts";
import { toDefinitionDigest, type Definitions } from "../../runtimes/mcp/definitions.ts";
import type { KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { McpRuntime } from "../../runtimes/mcp/mcp-runtime.ts";
import type { LockedServer } from "../../skills/trust/lock-format.ts";
import { toTools, type RefusedTool } from "./to-tools.ts";

/** Where tools of servers come from. */
export interface ServerToolsOptions {
  /** What servers offered when it was accepted; `undefined` for a new server. */
  readonly findPins: (key: string) => LockedServer | undefined;
  readonly kept: KeptContent;
  /** Connects to servers of which not everything is kept here. @default never connects */
  readonly openMcp?: () => Promise<Pick<McpRuntime, "connect">>;
}

/** The tools of a server, as far as they were accepted. */
export interface ServerTools {
  readonly tools: readonly Tool[];
  readonly refused: readonly RefusedTool[];
  /** Why tools are missing. */
  readonly problem?: string;
}

/**
 * Finds the tools of a server that were accepted. Their definitions are kept here, so most servers are started only when one of
 * their tools is called. Never throws for what a server does.
 */
export async function findServerTools(
  source: McpSource,
  { findPins, kept, openMcp }: ServerToolsOptions,
): Promise<ServerTools> {
  const key = toSourceKey(source);
  const pins = findPins(key);
  if (pins === undefined)
    return { tools: [], refused: [], problem: `it is new here; see what it offers: kitbag trust --mcp ${key}` };
  const wanted = [...pins.tools].filter(([name]) => source.tools?.includes(name) ?? true);
  const found = wanted.map(([, digest]) => readDefinition(kept, digest));
  const known = found.filter((definition) => definition !== undefined);
  if (known.length === wanted.length) return toTools(source, known);
  if (openMcp === undefined) {
    const problem = `not all of its tools were seen on this machine yet; call one of them, or run: kitbag trust --mcp ${key}`;
    return { ...toTools(source, known), problem };
  }
  return fetchTools(source, { ...pins, tools: new Map(wanted) }, { kept, openMcp });
}

async function fetchTools(
  source: McpSource,
  pins: LockedServer,
  { kept, openMcp }: Required<Omit<ServerToolsOptions, "findPins">>,
): Promise<ServerTools> {
  try {
    const { definitions } = await (await openMcp()).connect(source);
    const same = [...definitions.tools.values()].filter((one) => pins.tools.get(one.name) === toDefinitionDigest(one));
    for (const definition of same) keepDefinition(kept, definition);
    const made = toTools(source, same);
    const changed = describeChanges(pins, definitions);
    return changed === undefined ? made : { ...made, problem: changed };
  } catch (cause) {
    return { tools: [], refused: [], problem: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** Keeps a definition; answers with its digest. */
export function keepDefinition(kept: KeptContent, definition: McpDefinition): string {
  return kept.writeJson(definition as unknown as JsonValue);
}

/** The definition that has a digest; nothing if it was not seen on this machine. */
export function readDefinition(kept: KeptContent, digest: string): McpDefinition | undefined {
  return kept.readJson(digest) as unknown as McpDefinition | undefined;
}

const mostNamed = 10;

/** Says how the offer of a server differs from what was accepted; `undefined` if it does not. */
export function describeChanges(pins: LockedServer, { tools }: Definitions): string | undefined {
  const others = [...tools].filter(([name, now]) => {
    const digest = toDefinitionDigest(now);
    return pins.tools.get(name) !== digest && pins.leftOut?.get(name) !== digest;
  });
  const names = others.map(([name]) => name);
  const gone = [...pins.tools.keys()].filter((name) => !tools.has(name));
  const parts = [
    describe(
      "describes otherwise",
      names.filter((name) => pins.tools.has(name)),
    ),
    describe(
      "newly offers",
      names.filter((name) => !pins.tools.has(name)),
    ),
    describe("no longer offers", gone),
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : `it ${parts.join(", ")}`;
}

function describe(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `${what} ${names
    .slice(0, mostNamed)
    .map((name) => JSON.stringify(name))
    .join(", ")}${more}`;
}
