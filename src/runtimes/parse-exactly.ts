import { isKitbagError, KitbagError, quote, type Problem } from "../core/errors.ts";
import { toPath } from "../core/json.ts";
import type { Tool } from "../core/tool.ts";

/** JSON that was read, and the first whole number in it that has more digits than can be kept. */
export interface ExactJson {
  readonly value: unknown;
  readonly inexact?: { readonly path: string; readonly source: string };
}

/** Shorter numbers can always be kept; most texts have no longer ones, and need no closer look. */
const longNumber = /\d{16}/u;

/**
 * Reads JSON, and looks for whole numbers that would come out with other digits than they were written with: an id that is
 * changed silently belongs to another record.
 *
 * @throws {SyntaxError} if it is not JSON.
 */
export function parseExactly(text: string): ExactJson {
  if (!longNumber.test(text)) return { value: JSON.parse(text) as unknown };
  const sources = new Map<object, string>();
  const marked: unknown = parse(text, (_key, value, { source }) => {
    if (typeof value !== "number" || source === undefined || isKept(value, source)) return value;
    const mark = {};
    sources.set(mark, source);
    return mark;
  });
  const inexact = sources.size === 0 ? undefined : findMark(marked, sources);
  return inexact === undefined ? { value: marked } : { value: JSON.parse(text) as unknown, inexact };
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The types of TypeScript do not know the third argument yet. */
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

function isKept(value: number, source: string): boolean {
  if (Number.isSafeInteger(value) || !/^-?\d+$/u.test(source) || !Number.isFinite(value)) return true;
  return String(value) === source || BigInt(value) === BigInt(source);
}

type Steps = readonly (string | number)[];

function findMark(value: unknown, sources: ReadonlyMap<object, string>, steps: Steps = []): ExactJson["inexact"] {
  if (typeof value !== "object" || value === null) return undefined;
  const source = sources.get(value);
  if (source !== undefined) return { path: toPath(steps), source };
  for (const [key, part] of Object.entries(value)) {
    const found = findMark(part, sources, [...steps, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Reads what a tool printed that says what it answers: JSON, or any text if a text is wanted. `show` takes out what must not be shown.
 *
 * @throws {KitbagError} `output-invalid` if it printed something else, or a whole number that cannot be kept exactly.
 */
export function parseOutput({ name, outputSchema }: Tool, text: string, show: (text: string) => string): unknown {
  const isTextWanted = outputSchema?.["type"] === "string";
  const refuse = (problem: Problem): KitbagError =>
    new KitbagError("output-invalid", { tool: name, problems: [problem] });
  try {
    const { value, inexact } = parseExactly(text);
    if (isTextWanted && typeof value !== "string") return withoutLineEnd(text);
    if (inexact !== undefined) throw refuse(toProblem(inexact));
    return value;
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    if (isTextWanted) return withoutLineEnd(text);
    const found = text.trim() === "" ? "nothing" : quote(show(text.trimStart()));
    const expected = "JSON on standard output, and nothing else, because the tool says what it answers";
    throw refuse({ path: "", expected, found });
  }
}

/** A printed text without its last line break, as `$(…)` of a shell gives it: the next step wants the value and not the line. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/u, "");
}

/** What is wrong with such a number. */
function toProblem({ path, source }: NonNullable<ExactJson["inexact"]>): Problem {
  return {
    path,
    expected: "a whole number that can be kept exactly, or the number as a text",
    found: source.slice(0, 100),
  };
}
