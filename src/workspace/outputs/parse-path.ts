import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";

const longestPath = 10_000;
const grammar = /(?:\.|^)(?<key>[\p{L}_$][\p{L}\p{N}_$-]*)|\[(?:(?<index>\d{1,15})|(?<quoted>"(?:[^"\\]|\\.)*"))\]/uy;

/**
 * Reads a path as messages show it: `filters[0].size`, `["an odd key"].x`. The empty one is the whole.
 *
 * @throws {KitbagError} `option-invalid` if it is no path.
 */
export function parsePath(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  if (typeof path !== "string" || path.length > longestPath) refuse(path);
  grammar.lastIndex = 0;
  while (grammar.lastIndex < path.length) {
    const { key, index, quoted } = grammar.exec(path)?.groups ?? refuse(path);
    steps.push(key ?? (index === undefined ? parseQuoted(path, quoted as string) : Number(index)));
  }
  return steps;
}

function parseQuoted(path: string, quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return refuse(path);
  }
}

function refuse(path: unknown): never {
  const expected = 'a path such as rows[3].name or ["an odd key"]';
  throw new KitbagError("option-invalid", { option: "path", found: showValue(path), expected });
}
