import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** A part of a list, and where to go on. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque to clients; none at the end. */
  readonly nextCursor?: string;
}

/** How a list is cut into pages. */
export interface PageItemsOptions<Item> {
  /** What it is sorted by, in the order of UTF-16 code units; no two items have the same. */
  readonly keyOf: (item: Item) => string;
  readonly pageSize?: number;
}

const defaultPageSize = 100;
const longestCursor = 4096;
const cursorGrammar = /^[\w-]*$/u;
const mark = "after:";

/**
 * Cuts a sorted list into pages. A cursor names the last item of the page before, so nothing is left out or shown twice when
 * others come and go between two pages.
 *
 * @throws {ProtocolError} `InvalidParams` if this function did not make the cursor.
 */
export function pageItems<Item>(
  items: readonly Item[],
  cursor: string | undefined,
  { keyOf, pageSize = defaultPageSize }: PageItemsOptions<Item>,
): Page<Item> {
  const start = cursor === undefined ? 0 : findStart(items, parseCursor(cursor), keyOf);
  const page = items.slice(start, start + pageSize);
  const last = page.at(-1);
  const isEnd = last === undefined || start + pageSize >= items.length;
  return { items: page, ...(!isEnd && { nextCursor: renderCursor(keyOf(last)) }) };
}

/** The order of everything that is listed: that of UTF-16 code units, on every machine. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function findStart<Item>(items: readonly Item[], after: string, keyOf: (item: Item) => string): number {
  const index = items.findIndex((item) => compareTexts(keyOf(item), after) > 0);
  return index === -1 ? items.length : index;
}

function renderCursor(key: string): string {
  return Buffer.from(mark + key).toString("base64url");
}

function parseCursor(cursor: string): string {
  const isOurs = cursor.length <= longestCursor && cursorGrammar.test(cursor);
  const text = isOurs ? Buffer.from(cursor, "base64url").toString() : "";
  if (!text.startsWith(mark)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor");
  return text.slice(mark.length);
}
