import type { Tool } from "../../core/tool.ts";

/** A tool that a program can call, and its address. */
export interface AvailableTool {
  /** `owner/name`, or the bare name of a global tool. */
  readonly address: string;
  readonly tool: Tool;
}

/** Names that programs can write for tools. */
export interface ToolNames {
  /** Addresses by the path under which `tools` also offers them: `issues/read_one` for `issues/read-one`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Addresses of global tools by the name of the function that each is. */
  readonly globals: Readonly<Record<string, string>>;
}

/** Writes a name so that it can stand behind a dot: `read-issue` → `read_issue`. */
export function toIdentifier(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_$]/gu, "_");
  return /^[0-9]/u.test(word) ? `_${word}` : word;
}

/** Finds names for tools whose own cannot be written in a program. A tool's own name goes before another's alias. */
export function toToolNames(tools: readonly AvailableTool[]): ToolNames {
  const addresses = new Set(tools.map(({ address }) => address));
  const aliases = new Map<string, string>();
  const globals = new Map<string, string>();
  for (const { address } of tools) {
    for (const path of toPaths(address)) {
      if (!addresses.has(path) && !aliases.has(path)) aliases.set(path, address);
      if (!path.includes("/") && (path === address || aliases.get(path) === address)) globals.set(path, address);
    }
  }
  return { aliases: Object.fromEntries(aliases), globals: Object.fromEntries(globals) };
}

/** An address in all ways in which its names can be written. */
function toPaths(address: string): string[] {
  const [first = "", second] = address.split("/");
  const starts = new Set([first, toIdentifier(first)]);
  if (second === undefined) return [...starts];
  const ends = new Set([second, toIdentifier(second)]);
  return [...starts].flatMap((start) => [...ends].map((end) => `${start}/${end}`));
}
