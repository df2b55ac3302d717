import { isRecord } from "../../core/json.ts";
import { parseAddress, toAddress } from "../../core/names.ts";
import { renderSchema, toDocComment } from "../../core/schema/render-schema.ts";
import type { Tool } from "../../core/tool.ts";

/**
 * Writes TypeScript declarations of tools, for a model that writes a program which calls them: each with its description, its
 * parameters and what it gives back. Empty without tools.
 *
 * @example
 * ```ts
 * import { defineTool, renderToolDeclarations } from "kitbag";
 *
 * const read = defineTool({
 *   name: "read-issue",
 *   description: "Reads one issue",
 *   input: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
 *   output: { type: "string" },
 *   run: ({ number }) => `issue ${String(number)}`,
 * });
 * const text = renderToolDeclarations([{ address: "github/read-issue", tool: read }]);
 * console.assert(text.includes("read_issue(input: {") && text.includes("}): Promise<string>;"));
 * ```
 */
export function renderToolDeclarations(tools: Iterable<AvailableTool>): string {
  const all = [...tools];
  if (all.length === 0) return "";
  const names = toToolNames(all);
  const owners = Map.groupBy(all, ({ address }) => parseAddress(address).owner);
  const single = owners.get(undefined) ?? [];
  owners.delete(undefined);
  const lines = single.map(({ address, tool }) => renderTool(toKey(names, address), tool, 1));
  const taken = new Set([...single.map(({ address }) => toIdentifier(address)), ...repeated([...owners.keys()])]);
  for (const [owner = "", members] of owners) lines.push(renderOwner({ owner, members, names, taken }));
  return `declare const tools: {\n${lines.join("\n")}\n};`;
}

interface Owner {
  readonly owner: string;
  readonly members: readonly AvailableTool[];
  readonly names: ToolNames;
  /** Words that mean something else already. */
  readonly taken: ReadonlySet<string>;
}

function renderOwner({ owner, members, names, taken }: Owner): string {
  const word = toIdentifier(owner);
  // Where one word would mean two things, each tool stands under its whole address.
  if (taken.has(word)) return members.map(({ address, tool }) => renderTool(quoteKey(address), tool, 1)).join("\n");
  const lines = members.map(({ address, tool }) => {
    return renderTool(toKey(names, address, word), tool, 2);
  });
  return `  ${word}: {\n${lines.join("\n")}\n  };`;
}

/** Writes a tool's name as a word if a program that uses the word means this tool, in quotes if not. */
function toKey({ aliases }: ToolNames, address: string, ownerWord?: string): string {
  const { name } = parseAddress(address);
  const word = toIdentifier(name);
  const path = toAddress(ownerWord, word);
  return path === address || aliases[path] === address ? word : quoteKey(name);
}

function quoteKey(name: string): string {
  return JSON.stringify(name);
}

function renderTool(key: string, { description, inputSchema, outputSchema }: Tool, depth: number): string {
  const indent = "  ".repeat(depth);
  const { properties, required } = inputSchema;
  const isEmpty = !isRecord(properties) || Object.keys(properties).length === 0;
  const mark = Array.isArray(required) && required.length > 0 ? "" : "?";
  const input = isEmpty ? "" : `input${mark}: ${renderSchema(inputSchema, "typescript", depth)}`;
  const output = outputSchema === undefined ? "unknown" : renderSchema(outputSchema, "typescript", depth);
  return `${indent}${toDocComment(description)}\n${indent}${key}(${input}): Promise<${output}>;`;
}

/** The words that several names become. */
function repeated(names: readonly (string | undefined)[]): string[] {
  const words = names.map((name = "") => toIdentifier(name));
  return words.filter((word, index) => words.indexOf(word) !== index);
}

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
