/** A shorter secret would be found everywhere. */
const shortestSecret = 4;

/** A shorter piece of base64, without the characters at its ends that depend on what is around it, would be, too. */
const shortestPiece = 6;

/** A shorter line of a secret with several lines may be found elsewhere. */
const shortestLine = 16;

/**
 * The texts as which a secret may be seen: as it is, line by line, inside JSON, in a URL, in hexadecimal, and in base64, by itself
 * and as a part of something longer. None for one that is too short.
 */
export function findForms(secret: unknown): string[] {
  if (typeof secret !== "string" || secret.length < shortestSecret) return [];
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  const base64 = [bytes.toString("base64").replace(/=+$/u, ""), ...piecesOfBase64(bytes)];
  return [
    ...new Set([
      secret,
      ...linesOf(secret),
      ...jsonForms(secret),
      ...urlForms(bytes),
      ...base64,
      ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
      hex,
      hex.toUpperCase(),
    ]),
  ];
}

/** A key of many lines is also shown indented, or with other line ends; its first and last line are no secret. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/u).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith("-----"));
}

function jsonForms(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  // Some programs write everything beyond ASCII as an escape.
  const ascii = plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [plain, ascii];
}

/** Written by hand: the platform's way throws for half a character, and programs disagree about which to escape. */
function urlForms(bytes: Uint8Array): string[] {
  const encode = (kept: RegExp, toEscape: (digits: string) => string): string =>
    Array.from(bytes, (byte) => {
      const character = String.fromCharCode(byte);
      return kept.test(character) ? character : toEscape(byte.toString(16).padStart(2, "0"));
    }).join("");
  const upper = (digits: string): string => `%${digits.toUpperCase()}`;
  const lower = (digits: string): string => `%${digits}`;
  const ofComponent = encode(/[\w.~!*'()-]/u, upper);
  const ofForm = encode(/[\w.*-]/u, upper);
  const strict = /[\w.~-]/u;
  return [ofComponent, ofForm, ofForm.replaceAll("%20", "+"), encode(strict, upper), encode(strict, lower)];
}

/** What every base64 text contains that holds these bytes, wherever among the groups of three they begin. */
function piecesOfBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2]
    .map((offset) => {
      const text = Buffer.from([...Array<number>(offset).fill(0), ...bytes]).toString("base64");
      const begin = Math.ceil((offset * 8) / 6);
      return text.slice(begin, Math.floor(((offset + bytes.length) * 8) / 6));
    })
    .filter((piece) => piece.length >= shortestPiece);
}
