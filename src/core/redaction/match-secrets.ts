import {
  base64,
  blanks,
  digits,
  dots,
  equals,
  kindOf,
  lineEnds,
  lowers,
  pluses,
  slashes,
  uppers,
  urlBase64,
  visible,
  undecided,
  type Hit,
  type Scan,
} from "./scan.ts";
import { longestToken } from "./match-token.ts";

const longestJwt = 16 * 1024;

/** Three or five parts of base64, of which the first is JSON: `eyJ` is how `{"` begins. */
export function matchJwt(scan: Scan, index: number): Hit | undefined {
  const begins = scan.startsWith("eyJ", index);
  if (begins === undefined) return undecided(index);
  if (!begins) return undefined;
  const ends: number[] = [];
  for (let end = scan.runEnd(urlBase64, index); ; end = scan.runEnd(urlBase64, end + 1)) {
    if (end - index > longestJwt) return undefined;
    if (scan.isOpen(end)) return undecided(index);
    ends.push(end);
    if (scan.text[end] !== "." || ends.length === 5) break;
  }
  return toJwt(scan, index, ends);
}

/** `ends` says where its parts end. */
function toJwt(scan: Scan, index: number, ends: readonly number[]): Hit | undefined {
  const [header, payload = index, signature] = ends as [number, number?, number?];
  if (header - index < 12 || payload - header < 5) return undefined;
  // One whose end was left out to show less of it has no signature, but JSON in both parts.
  if (signature === undefined && !scan.text.startsWith("eyJ", header + 1)) return undefined;
  // A full stop behind it ends the sentence, and is no part of the token.
  return { start: index, end: ends[4] ?? signature ?? payload };
}

/** The longest private key that is looked for, as text. */
const longestKey = 32 * 1024;
const longestKind = 40;

/** `-----BEGIN … PRIVATE KEY-----` with all that follows up to its last line, or as much of it as there is. */
export function matchPrivateKey(scan: Scan, index: number): Hit | undefined {
  const { text } = scan;
  const begins = scan.startsWith("-----BEGIN ", index);
  if (begins === undefined) return undecided(index);
  if (!begins) return undefined;
  const body = text.indexOf("-----", index + 11);
  if (body === -1 || body - index > longestKind) {
    return body === -1 && scan.isOpen(index + longestKind) ? undecided(index) : undefined;
  }
  if (!/PRIVATE KEY(?: BLOCK)?$/u.test(text.slice(index, body))) return undefined;
  const last = scan.findKeyEnd(body);
  if (last !== -1 && last - index <= longestKey - 2 * longestKind) {
    const end = text.indexOf("-----", last + 9);
    if (end !== -1 && end - last <= longestKind) return { start: index, end: end + 5 };
  }
  if (scan.isOpen(index + longestKey)) return undecided(index);
  return { start: index, end: Math.min(endOfLines(scan, body + 5), index + longestKey) };
}

/** Where lines of base64 end, whose ends may be written as escapes. */
function endOfLines(scan: Scan, index: number): number {
  let end = scan.runEnd(base64 + blanks + lineEnds, index);
  while (scan.text[end] === "\\" && /[nr]/u.test(scan.text[end + 1] ?? "")) {
    end = scan.runEnd(base64 + blanks + lineEnds, end + 2);
  }
  return end;
}

const longestAuthority = 512;

/** The name and the password in `scheme://name:password@host`. */
export function matchUrlPassword(scan: Scan, index: number): Hit | undefined {
  if (scan.text[index + 1] !== "/" || scan.text[index + 2] !== "/") {
    return scan.isOpen(index + 2) && "://".startsWith(scan.text.slice(index)) ? undecided(index) : undefined;
  }
  const start = index + 3;
  const end = Math.min(scan.runEnd(visible - slashes, start), start + longestAuthority);
  if (scan.isOpen(end)) return undecided(index);
  const authority = scan.text.slice(start, end);
  const at = authority.lastIndexOf("@");
  const colon = authority.indexOf(":");
  return colon !== -1 && at > colon + 1 ? { start, end: start + at } : undefined;
}

const schemeEnd = { bearer: "earer ", basic: "asic " } as const;

/** What follows `Bearer`, if it is no word. */
export function matchBearer(scan: Scan, index: number): Hit | undefined {
  return matchScheme(scan, index, schemeEnd.bearer, (token) => token.length >= 16 && /\d/u.test(token));
}

/** What follows `Basic`, if it is a name and a password in base64. */
export function matchBasic(scan: Scan, index: number): Hit | undefined {
  return matchScheme(scan, index, schemeEnd.basic, isNameAndPassword);
}

function matchScheme(scan: Scan, index: number, word: string, isToken: (token: string) => boolean): Hit | undefined {
  const begins = scan.startsWith(word, index + 1);
  if (begins === undefined) return undecided(index);
  if (!begins) return undefined;
  const start = index + 1 + word.length;
  const end = scan.runEnd(urlBase64 + dots + pluses + slashes + equals, start);
  if (end - start > longestToken) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  return isToken(scan.text.slice(start, end)) ? { start, end } : undefined;
}

function isNameAndPassword(token: string): boolean {
  return token.length >= 8 && /^[\x20-\x7e]+:[\x20-\x7e]+$/u.test(Buffer.from(token, "base64").toString("latin1"));
}

/** Names whose value is a secret, in lower case and without `_` and `-`. */
const secretNames =
  /(?:password|passwd|passphrase|secret|secretkey|secretaccesskey|accesskey|apikey|apitoken|accesstoken|refreshtoken|authtoken|bottoken|sessiontoken|pwd|privatekey|accountkey|sharedaccesskey)$/u;

/** Tells whether what has this name is a secret: `password`, `API_KEY`, `clientSecret`. */
export function isSecretName(name: string): boolean {
  return name.length <= longestName && secretNames.test(name.toLowerCase().replaceAll(/[_\s-]/gu, ""));
}

/** More names than are taken out of records: a person who is not asked for one of these loses little. */
const secretToPeople = /(?:token|passcode|credentials?)$/iu;

/** Tells whether the field of a form, by its name and its schema, is for a secret. */
export function isSecretField(name: string, schema: unknown): boolean {
  const { writeOnly, format } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  return isSecretName(name) || secretToPeople.test(name) || writeOnly === true || format === "password";
}

/** Blanks between a name, its `=` and its value. */
const widestGap = 4;
const longestName = 64;

/** What is given to a name that says that it is a secret: `API_KEY=…`, `"password": "…"`. */
export function matchAssigned(scan: Scan, index: number): Hit | undefined {
  const { text } = scan;
  const nameEnd = skipBack(text, index);
  // Most names are ruled out by their last character.
  if (!lastOfNames.includes(text[nameEnd - 1] ?? " ") || !isSecretName(nameBefore(text, nameEnd))) return undefined;
  const gap = scan.runEnd(blanks, index + 1);
  if (gap - index > widestGap) return undefined;
  const start = skipQuote(text, gap);
  const end = scan.runEnd(visible, start);
  if (end - start > longestToken) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  return isUnlikeWords(text.slice(start, end)) ? { start, end } : undefined;
}

const lastOfNames = "detnyDETNY";
const quotes = "\"'`";

/** Where the name before `=` or `:` ends: blanks and one quote, which may be escaped, may be between them. */
function skipBack(text: string, index: number): number {
  let end = index;
  while (index - end < widestGap && (kindOf(text.charCodeAt(end - 1)) & blanks) !== 0) end -= 1;
  if (!quotes.includes(text[end - 1] ?? " ")) return end;
  return text[end - 2] === "\\" ? end - 2 : end - 1;
}

function skipQuote(text: string, index: number): number {
  const start = text[index] === "\\" ? index + 1 : index;
  return quotes.includes(text[start] ?? " ") ? start + 1 : start;
}

function nameBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < longestName && (kindOf(text.charCodeAt(start - 1)) & urlBase64) !== 0) start -= 1;
  return text.slice(start, end);
}

/** A password in a text is told from a word, a placeholder or a variable by its digits among letters. */
function isUnlikeWords(value: string): boolean {
  if (value.length < 8 || /^(?:\$|<|%|\*|process\.|env\.|os\.)/u.test(value)) return false;
  let found = 0;
  for (let index = 0; index < value.length && index < 128; index++) found |= kindOf(value.charCodeAt(index));
  return (found & digits) !== 0 && (found & (lowers + uppers)) !== 0;
}

/** The token of a Telegram bot: its number, a colon and 35 characters. */
export function matchTelegram(scan: Scan, index: number): Hit | undefined {
  const eighth = index + 7;
  if (eighth < scan.text.length && (kindOf(scan.text.charCodeAt(eighth)) & digits) === 0) return undefined;
  const colon = scan.runEnd(digits, index);
  if (colon - index > 10) return undefined;
  if (scan.isOpen(colon)) return undecided(index);
  if (scan.text[colon] !== ":" || colon - index < 8) return undefined;
  const end = scan.runEnd(urlBase64, colon + 1);
  if (end - colon > 36) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  return end - colon === 36 && scan.text.startsWith("AA", colon + 1) ? { start: index, end } : undefined;
}

/** The token of a Discord bot: three parts, of which the second has 6 characters. */
export function matchDiscord(scan: Scan, index: number): Hit | undefined {
  const first = scan.runEnd(urlBase64, index);
  if (scan.isOpen(first)) return first - index > 28 ? undefined : undecided(index);
  if (scan.text[first] !== "." || first - index < 24 || first - index > 28) return undefined;
  const second = scan.runEnd(urlBase64, first + 1);
  if (second - first > 7) return undefined;
  if (scan.isOpen(second)) return undecided(index);
  if (scan.text[second] !== "." || second - first < 7) return undefined;
  const end = scan.runEnd(urlBase64, second + 1);
  if (end - second > 64) return undefined;
  if (scan.isOpen(end)) return undecided(index);
  return end - second > 27 ? { start: index, end } : undefined;
}
