import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { DoneCall } from "./conversation.ts";

/** Longer results are cut: they are too long to read, and the conversation holds the whole result. */
const longestText = 6000;
const mostRows = 30;
const mostColumns = 8;

/** Says what came back, in the order in which it was asked for. */
export function renderResults(work: readonly (readonly DoneCall[])[]): string {
  const calls = work.flat();
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return renderCall(only);
  return calls
    .map((call, index) => `${index + 1}. \`${call.tool}\`${renderInput(call.input)}\n${renderCall(call)}`)
    .join("\n\n");
}

function renderInput(input: JsonObject): string {
  const parts = Object.entries(input).map(([name, value]) => `${name}: ${short(inline(value), 60)}`);
  return parts.length === 0 ? "" : ` (${short(parts.join(", "), 160)})`;
}

/** Says why a call came to nothing. */
export function renderDenied({ tool, input, result }: DoneCall): string {
  const name = typeof input["name"] === "string" ? ` "${input["name"]}"` : "";
  const reason = result === undefined ? "" : messageOf(result.value);
  return `I could not use \`${tool}\`${name}${reason === "" ? "" : `: ${reason}`}`;
}

function renderCall(call: DoneCall): string {
  const { tool, result } = call;
  if (result === undefined) return `\`${tool}\` has not answered.`;
  if (result.status === "denied")
    return `\`${tool}\` was not allowed to run${messageOf(result.value) === "" ? "." : `: ${messageOf(result.value)}`}`;
  if (result.status === "failed") return `\`${tool}\` failed: ${messageOf(result.value)}`;
  return renderValue(result.value);
}

function messageOf(value: JsonValue): string {
  if (typeof value === "string") return short(value.trim(), 2000);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const fields = value as JsonObject;
    const message = fields["message"] ?? fields["error"] ?? fields["reason"];
    if (message !== undefined && message !== null) return messageOf(message);
  }
  return value === null ? "" : short(JSON.stringify(value), 2000);
}

/** Writes a value for a person: text as it is, objects as lists, lists of objects as tables. */
function renderValue(value: JsonValue): string {
  if (typeof value === "string") return value.trim() === "" ? "Done." : short(value.trimEnd(), longestText);
  if (value === null) return "Done.";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return short(renderList(value as readonly JsonValue[]), longestText);
  return short(renderObject(value as JsonObject, 0), longestText);
}

function renderObject(value: JsonObject, depth: number): string {
  const indent = "  ".repeat(depth);
  const lines = Object.entries(value).map(([key, field]) => {
    const name = key.replaceAll("_", " ");
    if (isTable(field)) return `${indent}- ${name}:\n\n${toTable(field as readonly JsonObject[])}\n`;
    if (
      typeof field === "object" &&
      field !== null &&
      !Array.isArray(field) &&
      depth < 3 &&
      Object.keys(field).length > 0
    ) {
      return `${indent}- ${name}:\n${renderObject(field as JsonObject, depth + 1)}`;
    }
    return `${indent}- ${name}: ${short(inline(field), 400)}`;
  });
  return lines.length === 0 ? "Nothing was found." : lines.join("\n");
}

function renderList(values: readonly JsonValue[]): string {
  if (values.length === 0) return "Nothing was found.";
  if (isTable(values)) return toTable(values as readonly JsonObject[]);
  const rows = values.slice(0, mostRows).map((value) => `- ${short(inline(value), 400)}`);
  return [...rows, ...more(values.length)].join("\n");
}

function more(count: number): string[] {
  return count > mostRows ? [`… and ${count - mostRows} more`] : [];
}

function isTable(value: JsonValue): boolean {
  const isRow = (row: JsonValue): boolean => typeof row === "object" && row !== null && !Array.isArray(row);
  return Array.isArray(value) && value.length > 0 && (value as readonly JsonValue[]).slice(0, mostRows).every(isRow);
}

function toTable(rows: readonly JsonObject[]): string {
  const shown = rows.slice(0, mostRows);
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))].slice(0, mostColumns);
  const heading = columns.map((name) => cell(name));
  const cells = shown.map((row) =>
    columns.map((name) => cell(Object.hasOwn(row, name) ? inline(row[name] as JsonValue) : "")),
  );
  const widths = heading.map((name, index) => widthOf([name, ...cells.map((line) => line[index] ?? "")]));
  const lines = [heading, widths.map((width) => "-".repeat(width)), ...cells].map(
    (line) => `| ${line.map((text, index) => text.padEnd(widths[index] ?? 0)).join(" | ")} |`,
  );
  return [...lines, ...more(rows.length)].join("\n");
}

/** In a terminal a table is read as it is written. One long cell does not make all lines of its column too long for a screen. */
const widestColumn = 24;

function widthOf(texts: readonly string[]): number {
  return texts.reduce((width, { length }) => Math.max(width, Math.min(length, widestColumn)), "---".length);
}

function cell(text: string): string {
  return short(text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/gu, " "), 80);
}

function inline(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[])
      .slice(0, mostRows)
      .map((item) => (typeof item === "object" && item !== null ? JSON.stringify(item) : String(item)));
    return items.length === 0 ? "none" : items.join(", ");
  }
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}
