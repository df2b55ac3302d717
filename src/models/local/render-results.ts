import { shortenText } from "../../core/cut-text.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { DoneCall } from "./conversation.ts";

/** Longer results are cut: they are too long to read, and the conversation holds the whole result. */
const longestText = 5999;
const longestMessage = 2000;
const longestField = 400;
const mostRows = 30;
const mostColumns = 8;

/** Says what came back, in the order in which it was asked for. */
export function renderResults(calls: readonly DoneCall[]): string {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) return renderCall(only);
  return calls
    .map((call, index) => `${index + 1}. \`${call.tool}\`${renderInput(call.input)}\n${renderCall(call)}`)
    .join("\n\n");
}

function renderInput(input: JsonObject): string {
  const parts = Object.entries(input).map(([name, value]) => `${name}: ${shortenText(inline(value), 60)}`);
  return parts.length === 0 ? "" : ` (${shortenText(parts.join(", "), 160)})`;
}

/** Says why a call came to nothing. */
export function renderDenied({ tool, input, result }: DoneCall): string {
  const name = typeof input["name"] === "string" ? ` "${input["name"]}"` : "";
  return `I could not use \`${tool}\`${name}${messageOf(result?.value, "")}`;
}

function renderCall({ tool, result }: DoneCall): string {
  if (result === undefined) return `\`${tool}\` has not answered.`;
  if (result.status === "denied") return `\`${tool}\` was not allowed to run${messageOf(result.value, ".")}`;
  return result.status === "failed" ? `\`${tool}\` failed${messageOf(result.value, ".")}` : renderValue(result.value);
}

/** What a failure says, behind a colon; `otherwise` if it says nothing. */
function messageOf(value: JsonValue | undefined, otherwise: string): string {
  const fields: JsonObject = isRecord(value) ? value : {};
  const message = fields["message"] ?? fields["error"] ?? fields["reason"] ?? null;
  if (message !== null) return messageOf(message, otherwise);
  const text = value === undefined || value === null ? "" : inline(value).trim();
  return text === "" ? otherwise : `: ${shortenText(text, longestMessage)}`;
}

/** Writes a value for a person: text as it is, objects as lists, lists of objects as tables. */
function renderValue(value: JsonValue): string {
  if (value === null || (typeof value === "string" && value.trim() === "")) return "Done.";
  const text = isRecord(value) ? renderObject(value, 0) : Array.isArray(value) ? renderList(value) : inline(value);
  return shortenText(text.trimEnd(), longestText) || "Nothing was found.";
}

function renderObject(value: JsonObject, depth: number): string {
  const indent = "  ".repeat(depth);
  const lines = Object.entries(value).map(([key, field]) => {
    const name = `${indent}- ${key.replaceAll("_", " ")}:`;
    if (isTable(field)) return `${name}\n\n${toTable(field)}\n`;
    if (isRecord(field) && depth < 3 && Object.keys(field).length > 0)
      return `${name}\n${renderObject(field, depth + 1)}`;
    return `${name} ${shortenText(inline(field), longestField)}`;
  });
  return lines.join("\n");
}

function renderList(values: readonly JsonValue[]): string {
  if (isTable(values)) return toTable(values);
  const rows = values.slice(0, mostRows).map((value) => `- ${shortenText(inline(value), longestField)}`);
  return [...rows, ...more(values)].join("\n");
}

function more({ length }: readonly JsonValue[]): string[] {
  return length > mostRows ? [`… and ${length - mostRows} more`] : [];
}

function isTable(value: JsonValue): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.slice(0, mostRows).every(isRecord);
}

/** In a terminal a table is read as it is written. One long cell does not make all lines of its column too long for a screen. */
const widestColumn = 24;

function toTable(rows: readonly JsonObject[]): string {
  const shown = rows.slice(0, mostRows);
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))].slice(0, mostColumns);
  const cells = shown.map((row) => columns.map((name) => (Object.hasOwn(row, name) ? inline(row[name] ?? null) : "")));
  const table = [columns, ...cells].map((line) => line.map(toCell));
  const widths = columns.map((_, index) =>
    Math.max(3, ...table.map((line) => Math.min(line[index]?.length ?? 0, widestColumn))),
  );
  const [heading = [], ...lines] = table;
  const written = [heading, widths.map((width) => "-".repeat(width)), ...lines].map(
    (line) => `| ${line.map((text, index) => text.padEnd(widths[index] ?? 0)).join(" | ")} |`,
  );
  return [...written, ...more(rows)].join("\n");
}

function toCell(text: string): string {
  return shortenText(text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/gu, " "), 80);
}

function inline(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = (value as readonly JsonValue[]).slice(0, mostRows);
  return items.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join(", ") || "none";
}
