import { readValueLeniently, type Reading } from "./read-value.ts";
import { isOver, mostRunaways, needMore, unreadable, type Source } from "./source.ts";

const nothingIncomplete: ReadonlyMap<object, string | undefined> = new Map();

/** What {@link readJson} found: a value, or, if none can be read there, where to continue. */
export type JsonRead = ({ readonly ok: true } & Reading) | { readonly ok: false; readonly next: number };

/**
 * Reads the list or object that begins at `at`: as JSON if it is JSON, leniently if it is not.
 *
 * Contract: throws `needMore` and nothing else. What is JSON is never changed.
 */
export function readJson(source: Source, at: number): JsonRead {
  const end = source.runaways < mostRunaways ? matchBrackets(source, at) : undefined;
  if (end === undefined && source.runaways >= mostRunaways) return { ok: false, next: at + 1 };
  if (end !== undefined) {
    const value = parseStrictly(source.text.slice(at, end));
    if (value !== undefined) return { ok: true, value, end, repairs: [], incomplete: nothingIncomplete };
  }
  const reading = tryToRead(source, at);
  if (end === undefined || reading === undefined || reading.incomplete.size > 0) source.runaways += 1;
  if (reading !== undefined) return { ok: true, ...reading };
  return { ok: false, next: end ?? at + 1 };
}

/** Where the bracket that is at `at` is closed, if what is between is JSON; `undefined` if it never is. */
function matchBrackets(source: Source, at: number): number | undefined {
  const { text } = source;
  let depth = 0;
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      const end = skipText(text, index);
      if (end === undefined) break;
      index = end;
    } else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) {
        source.steps += index - at;
        return index + 1;
      }
    }
  }
  source.steps += text.length - at;
  isOver(source, text.length);
  return undefined;
}

/** The closing quote of the text that begins at `at`. */
function skipText(text: string, at: number): number | undefined {
  for (let index = at + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) index += 1;
    else if (code === 0x22) return index;
  }
  return undefined;
}

/** A drive and a single backslash, where JSON would read a tab: no text begins like that, but a path that was not escaped does. */
const plainPath = /"[A-Za-z]:\\[tbf]/u;

/** The value of a JSON text; `undefined` if the text is not valid JSON. */
export function parseStrictly(text: string): unknown {
  if (plainPath.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function tryToRead(source: Source, at: number): Reading | undefined {
  try {
    return readValueLeniently(source, at);
  } catch (cause) {
    if (cause === needMore) throw cause;
    if (cause === unreadable) return undefined;
    throw cause;
  }
}
