import { isMcpProgram, type McpSource } from "../../core/mcp-code.ts";
import type { McpOffer, McpOfferedTool } from "../../mcp/client/inspect-server.ts";
import { toPrintableLine } from "../printable.ts";
import { listPermissions } from "../render-tool.ts";
import type { Terminal } from "../terminal.ts";

const marks: Readonly<Record<McpOfferedTool["change"], string>> = { new: "new", changed: "CHANGED", same: "as before" };
const longestLine = 300;
const mostLines = 200;

/** Writes what a server offers, for whoever decides about it. */
export function renderInspected({ key, source, tools, skills, refused, gone }: McpOffer, terminal: Terminal): string {
  const toolLines = tools.map(({ tool, change }) => `  ${tool.name} (${marks[change]}): ${shorten(tool.description)}`);
  const skillLines = skills.map(({ skill }) => `  ${skill.name}: ${shorten(skill.description)}`);
  const refusedLines = refused.map(({ name, reason }) => `  ${shorten(name)}: ${shorten(reason)}`);
  return [
    `${terminal.style("bold", key)} (${toPrintableLine(describeSource(source))})`,
    ...section("Tools", toolLines),
    ...section("Skills, as text and files", skillLines),
    ...section("Left out", refusedLines),
    ...section(
      "No longer offered",
      gone.map((name) => `  ${shorten(name)}`),
    ),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > mostLines ? [`  … and ${lines.length - mostLines} more`] : [];
  return [`${title}:`, ...lines.slice(0, mostLines), ...more];
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
