import { isRecord } from "../../core/json.ts";

/** A line that is kept whole is no longer than this, where it can be divided. */
const longestLine = 240;
/** The most lines that are looked at; of a longer text, those behind are left out. */
const mostLines = 20_000;
/** A value of JSON is taken apart no deeper. */
const deepest = 12;

/** Divides a text into pieces that say something by themselves: records of JSON, lines, sentences. */
export function toLines(text: string): readonly string[] {
  return toRecords(text) ?? toSentences(text);
}

function toSentences(text: string): readonly string[] {
  return text
    .split(/\r?\n/u)
    .flatMap((line) => (line.length <= longestLine ? [line] : line.split(/(?<=[.!?。！？;])\s+/u)))
    .filter((line) => line.trim() !== "")
    .slice(0, mostLines);
}

/** The records of a JSON text; `undefined` if it is none, or one that is nested too deep to be read. */
function toRecords(text: string): readonly string[] | undefined {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  const lines: string[] = [];
  try {
    addValue(lines, "", JSON.parse(text), 0);
    return lines;
  } catch {
    return undefined;
  }
}

/** A value that is short is one line, with its place before it; a longer one is taken apart. */
function addValue(lines: string[], path: string, value: unknown, depth: number): void {
  if (lines.length >= mostLines) return;
  const text = JSON.stringify(value);
  const isLeaf = typeof value !== "object" || value === null || depth >= deepest;
  if (isLeaf || (text.length <= longestLine && depth > 0)) lines.push(path === "" ? text : `${path}: ${text}`);
  else if (Array.isArray(value)) value.forEach((item, index) => addValue(lines, `${path}[${index}]`, item, depth + 1));
  else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      addValue(lines, path === "" ? key : `${path}.${key}`, item, depth + 1);
    }
  }
}
