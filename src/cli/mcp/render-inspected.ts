import { isMcpProgram, type McpSource } from "../../core/mcp-source.ts";
import type { McpChange, McpOffer, McpOfferedSkill, McpOfferedTool } from "../../mcp/client/inspect-server.ts";
import type { KeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { ServedSkill } from "../../runtimes/mcp/read-server-skills.ts";
import { toPatch } from "../../records/versions/diff-versions.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { renderPatch } from "../render.ts";
import { listPermissions, renderOpened } from "../render-tool.ts";
import type { Terminal } from "../terminal.ts";

const marks: Readonly<Record<McpChange, string>> = { new: "new", changed: "CHANGED", same: "as before" };
const longestLine = 300;
const mostLines = 200;

/** What rendering needs: a screen, and where what servers said before is kept. */
export interface RenderParts {
  readonly terminal: Terminal;
  readonly kept: Pick<KeptContent, "read">;
}

/**
 * Writes what a server offers, for the person who decides about it. What is new is there in full, with its schemas, and what changed as the
 * difference, however long: what is not seen cannot be agreed to.
 */
export async function renderInspected(offer: McpOffer, parts: RenderParts): Promise<string> {
  const { key, source, tools, skills, refused, gone, pins } = offer;
  return [
    `${parts.terminal.style("bold", key)} (${toPrintableLine(describeSource(source))})`,
    ...(isMcpProgram(source) ? renderOpened(source.permissions, parts.terminal) : []),
    ...section("Tools", await Promise.all(tools.map((tool) => renderTool(tool, parts)))),
    ...section("Skills, as text and files", await Promise.all(skills.map((skill) => renderSkill(skill, parts)))),
    ...section("For MCP clients of Kitbag, as the server has them at that time", pins.shares ?? []),
    ...section("Left out", shortenAll(refused.map(({ name, reason }) => `${shorten(name)}: ${shorten(reason)}`))),
    ...section("No longer offered", shortenAll(gone.map(shorten))),
  ].join("\n");
}

function section(title: string, entries: readonly string[]): string[] {
  return entries.length === 0 ? [] : [`${title}:`, ...entries.map((entry) => `  ${entry}`)];
}

function shortenAll(lines: readonly string[]): string[] {
  const more = lines.length > mostLines ? [`… and ${lines.length - mostLines} more`] : [];
  return [...lines.slice(0, mostLines), ...more];
}

async function renderTool({ tool, definition, change, before }: McpOfferedTool, parts: RenderParts): Promise<string> {
  const title = `${tool.name} (${marks[change]})`;
  if (change === "same") return `${title}: ${shorten(tool.description)}`;
  return `${title}:\n${await renderChange(tool.name, { change, before, now: definition }, parts)}`;
}

async function renderSkill({ skill, change, before }: McpOfferedSkill, parts: RenderParts): Promise<string> {
  const title = `${toPrintableLine(skill.name)} (${marks[change]})`;
  if (change === "same") return `${title}: ${shorten(skill.description)}`;
  const listed = { change, before: before && listFiles(before), now: listFiles(skill) };
  const own = await renderChange(skill.name, listed, parts);
  const files = before === undefined ? [] : await renderFiles(before, skill, parts);
  return [`${title}:`, own, ...files].join("\n");
}

interface Change {
  readonly change: McpChange;
  readonly before: object | undefined;
  readonly now: object;
}

/** All of something new, or whose earlier version is not known; otherwise the difference. */
async function renderChange(name: string, { change, before, now }: Change, { terminal }: RenderParts): Promise<string> {
  const text = await showYaml(now);
  if (change === "new") return indent(toPrintable(text));
  if (before === undefined)
    return indent(toPrintable(`What was agreed to was never seen on this machine. This is all of it now:\n${text}`));
  const was = await showYaml(before);
  // Two texts that take too long to compare are shown one after the other.
  return indent(renderPatch((await toPatch(name, was, text)) ?? `Before:\n${was}Now:\n${text}`, terminal));
}

/** The differences between the files of a skill, as far as they are texts. */
async function renderFiles(before: ServedSkill, now: ServedSkill, { kept, terminal }: RenderParts): Promise<string[]> {
  const read = ({ files }: ServedSkill, path: string): string => {
    const digest = files.find((file) => file.path === path)?.digest;
    return digest === undefined ? "" : (kept.read(digest)?.toString("utf8") ?? "");
  };
  const paths = [...new Set([...before.files, ...now.files].map(({ path }) => path))].toSorted();
  const patches = await Promise.all(paths.map((path) => toPatch(path, read(before, path), read(now, path))));
  return patches.flatMap((patch) => (patch === undefined ? [] : indent(renderPatch(patch, terminal))));
}

function listFiles({ files, ...skill }: ServedSkill): object {
  return { ...skill, files: files.map(({ path, bytes, digest }) => `${path}, ${bytes} bytes, ${digest}`) };
}

/** YAML has several lines for a long text, so a difference is near to what changed; the same value is always the same text. */
async function showYaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value, { sortMapEntries: true, lineWidth: 100, aliasDuplicateObjects: false });
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gmu, "    ");
}

function shorten(text: string): string {
  const line = toPrintableLine(text);
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** Says in a line what a server is, and what it may do. */
function describeSource(source: McpSource): string {
  if (!isMcpProgram(source)) return source.url;
  const command = [source.command, ...source.args].join(" ");
  if (source.sandbox === "off") return `${command}; NO SANDBOX: it can read and change all that you can`;
  return `${command}; in the sandbox with ${listPermissions(source.permissions) || "no permissions"}`;
}
