/** Everything that makes a terminal do something else than show a letter, apart from tab and line feed. */
const unprintable = /(?![\t\n])[\p{Cc}\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu;

/** Shows control characters of somebody else's text instead of letting the terminal obey them. */
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

function showCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
