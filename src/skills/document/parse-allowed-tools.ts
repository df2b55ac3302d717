import type { AllowedTool } from "./skill-document.ts";

/** What {@link parseAllowedTools} answers. */
export interface AllowedTools {
  readonly tools: readonly AllowedTool[];
  /** Commas separate some of them. */
  readonly commas: boolean;
  /** Entries with parentheses that do not close. */
  readonly unclosed: readonly string[];
}

/**
 * Reads the text of `allowed-tools`: tools separated by spaces, by commas or by both, each with or without a rule in
 * parentheses, in which spaces and commas do not separate. Brackets, quotes and dashes of a list that was written as text are
 * ignored.
 */
export function parseAllowedTools(text: string): AllowedTools {
  const tools: AllowedTool[] = [];
  const unclosed: string[] = [];
  let commas = false;
  for (let offset = 0; offset < text.length && tools.length + unclosed.length < mostEntries;) {
    const separator = text[offset] ?? "";
    if (/[\s,]/u.test(separator)) {
      commas ||= separator === ",";
      offset++;
      continue;
    }
    const entry = readEntry(text, offset);
    offset += entry.length;
    const raw = trimList(entry);
    if (raw === "" || raw === "-") continue;
    const tool = toTool(raw);
    if (tool === undefined) unclosed.push(raw);
    else tools.push(tool);
  }
  return { tools, commas, unclosed };
}

/** Bounds for texts that nobody wrote by hand. */
const mostEntries = 500;
const longestEntry = 2000;

/** One entry: up to the next separator that is not in parentheses. What never closes ends at its first separator. */
function readEntry(text: string, start: number): string {
  let depth = 0;
  let firstSeparator = -1;
  for (let offset = start; offset < text.length; offset++) {
    const character = text[offset] ?? "";
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (/[\s,]/u.test(character)) {
      if (depth === 0) return text.slice(start, offset);
      if (firstSeparator === -1) firstSeparator = offset;
      if (offset - start > longestEntry) break;
    }
  }
  return depth === 0 || firstSeparator === -1 ? text.slice(start) : text.slice(start, firstSeparator);
}

function trimList(entry: string): string {
  const text = entry.replace(/^[["'`]+/u, "");
  return text.includes("(") ? text.replace(/\)["'`\]]+$/u, ")") : text.replace(/["'`\]]+$/u, "");
}

function toTool(raw: string): AllowedTool | undefined {
  const open = raw.indexOf("(");
  if (open === -1) return raw.includes(")") ? undefined : { raw, name: raw };
  if (open === 0 || !raw.endsWith(")")) return undefined;
  return { raw, name: raw.slice(0, open), rule: raw.slice(open + 1, -1) };
}
