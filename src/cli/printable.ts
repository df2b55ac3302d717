/**
 * Everything that makes a terminal do something else than show a letter, apart from tab and line feed: what it obeys, what turns
 * text around, and what takes no room, which a model reads all the same (tags and variation selectors can spell whole sentences).
 */
const unprintable =
  /(?![\t\n])[\u034F\p{Cc}\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]|[\uFE00-\uFE0F]{2,}/gu;

/** Shows control characters of text from elsewhere instead of letting the terminal obey them. */
export function toPrintable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(unprintable, showCharacter);
}

/** The same for text that must stay on one line. */
export function toPrintableLine(text: string): string {
  return toPrintable(text).replaceAll(/\s+/gu, " ").trim();
}

/** JSON that is easy to read, and harmless on a terminal: what a terminal would obey is escaped, and means the same. */
export function renderJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(unprintable, showCharacter);
}

/** The same on one line; bytes, which are no JSON, in base64. */
export function renderJsonLine(value: unknown): string {
  return JSON.stringify(value, showBytes).replaceAll(unprintable, showCharacter);
}

function showBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** In the units that JSON escapes. */
function showCharacter(found: string): string {
  return found
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
