import { type JsonRedaction, redactJson } from "./redaction/redact-json.ts";

/** Takes secrets out of whatever is shown. */
export interface Redactor {
  /** `text` with each stretch of it that is a secret replaced by the secret's name. */
  text(text: string): string;
  /**
   * A copy of a JSON value without the secrets, in texts, in keys and in numbers; the value itself if it holds no secrets. Keys
   * that become the same are numbered.
   */
  value<Value>(value: Value): Value;
  /** A redactor that knows these secrets too. */
  with(secrets: Readonly<Record<string, string>>): Redactor;
  /** Starts a text that comes in pieces: a secret may be cut between two of them. */
  stream(): RedactedStream;
  /**
   * Like `text`, for one of several messages that are shown apart: a longer part of a secret at its beginning or its end, or all of it,
   * is hidden as well. The rest of the secret may be in the next message.
   */
  message(text: string): string;
}

/**
 * A text that comes in pieces, without the secrets. What it answers, joined, is what `text` makes of the pieces, joined; and it
 * holds back less than the longest form of a secret.
 */
export interface RedactedStream {
  /** Takes the next piece and answers with what can be shown: the end is held back while it may begin a secret. */
  push(piece: string): string;
  /** Ends the text: what was held back. */
  flush(): string;
}

/** A text that stands for a secret, and what to show instead. */
interface Form {
  readonly text: string;
  readonly label: string;
}

/**
 * Makes a redactor for secrets by name; `undefined` if there is nothing to take out. Each secret is also found as base64, in a
 * URL, in hexadecimal and inside JSON text, and is replaced by its name: `[GITHUB_TOKEN]`. Secrets of fewer than 4 characters
 * are not looked for: they would be found everywhere.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Redactor | undefined {
  return createFrom(Object.entries(secrets));
}

function createFrom(secrets: readonly (readonly [name: string, secret: string])[]): Redactor | undefined {
  const texts = secrets.map(([name, secret]) => [name, findForms(secret)] as const);
  const isSecret = (label: string): boolean => texts.some(([, forms]) => forms.some((form) => label.includes(form)));
  const forms: Form[] = texts.flatMap(([name, list]) => {
    // The name of a secret may hold another one, or itself.
    const label = isSecret(`[${name}]`) ? "[***]" : `[${name}]`;
    return list.map((text) => ({ text, label }));
  });
  if (forms.length === 0) return undefined;

  const text = (value: string): string => {
    const stretches = findStretches(value, forms);
    return stretches.length === 0 ? value : replaceStretches(value, stretches, value.length);
  };
  const redaction: JsonRedaction = {
    text,
    key: text,
    number(value) {
      const clean = text(String(value));
      return clean === String(value) ? value : clean;
    },
  };
  return {
    text,
    value: (value) => redactJson(value, redaction) as typeof value,
    with: (more) => createFrom([...secrets, ...Object.entries(more)]) as Redactor,
    stream: () => createStream(forms),
    message: (value) => hideParts(text(value), forms),
  };
}

/** A part of a text that is to be replaced: one secret, or several that overlap. */
interface Stretch {
  readonly start: number;
  /** Of the secret that it starts with. */
  readonly length: number;
  end: number;
  /** Empty if it was shown already. */
  readonly label: string;
}

/** Finds what is to be replaced, in order and apart from each other; the label is that of the first secret, the longest of them. */
function findStretches(text: string, forms: readonly Form[], shownUntil = 0): Stretch[] {
  const found: Stretch[] = [];
  for (const { text: form, label } of forms) {
    let last: Stretch | undefined;
    for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
      const end = start + form.length;
      // Many of the same that overlap, as of "aaaa" in "aaaaaaaa", are one.
      if (last !== undefined && start < last.end) last.end = end;
      else {
        last = { start, length: form.length, end, label };
        found.push(last);
      }
    }
  }
  if (found.length > 1) found.sort((left, right) => left.start - right.start || right.length - left.length);
  const merged: Stretch[] = shownUntil > 0 ? [{ start: 0, length: shownUntil, end: shownUntil, label: "" }] : [];
  for (const stretch of found) {
    const before = merged.at(-1);
    if (before !== undefined && stretch.start < before.end) before.end = Math.max(before.end, stretch.end);
    else merged.push(stretch);
  }
  return merged;
}

/** Replaces the stretches that begin before `end`, and leaves out what is behind it. */
function replaceStretches(text: string, stretches: readonly Stretch[], end: number): string {
  let shown = "";
  let next = 0;
  for (const stretch of stretches) {
    if (stretch.start >= end) break;
    shown += text.slice(next, stretch.start) + stretch.label;
    next = stretch.end;
  }
  return next < end ? shown + text.slice(next, end) : shown;
}

function createStream(forms: readonly Form[]): RedactedStream {
  let held = "";
  /** How much of what is held belongs to a secret whose label was shown. */
  let shownUntil = 0;

  return {
    push(piece) {
      const text = held + piece;
      const stretches = findStretches(text, forms, shownUntil);
      const end = text.length - beginningOfSecret(text, forms);
      const open = stretches.find((stretch) => (stretch.start < end || stretch.label === "") && stretch.end > end);
      const shown = replaceStretches(text, stretches, end);
      held = text.slice(end);
      shownUntil = open === undefined ? 0 : open.end - end;
      return shown;
    },
    flush() {
      const rest = replaceStretches(held, findStretches(held, forms, shownUntil), held.length);
      held = "";
      shownUntil = 0;
      return rest;
    },
  };
}

/** A shorter part of a secret may stand at the end of a message by chance. */
const shortestPart = 6;

/** Hides what a message begins or ends with, or is, if that is a part of a secret. Each message is checked by itself. */
function hideParts(text: string, forms: readonly Form[]): string {
  if (text.length < shortestPart) return text;
  const whole = forms.find((form) => form.text.includes(text.trim()) && text.trim().length >= shortestPart);
  if (whole !== undefined) return toPart(whole);
  const last = findPart(forms, (part) => text.endsWith(part), "beginning");
  const shown = last === undefined ? text : text.slice(0, -last.length) + toPart(last.form);
  const first = findPart(forms, (part) => text.startsWith(part), "end");
  return first === undefined ? shown : toPart(first.form) + shown.slice(first.length);
}

const toPart = ({ label }: Form): string => `${label.slice(0, -1)}…]`;

interface Part {
  readonly form: Form;
  readonly length: number;
}

/** The longest part of a secret, at its beginning or its end, that `fits`. */
function findPart(forms: readonly Form[], fits: (part: string) => boolean, at: "beginning" | "end"): Part | undefined {
  let found: Part | undefined;
  for (const form of forms) {
    const least = Math.max(shortestPart, (found?.length ?? 0) + 1);
    for (let length = form.text.length - 1; length >= least; length--) {
      const part = at === "beginning" ? form.text.slice(0, length) : form.text.slice(-length);
      if (!fits(part)) continue;
      found = { form, length };
      break;
    }
  }
  return found;
}

/** How many characters at the end of `text` are the beginning of a secret. */
function beginningOfSecret(text: string, forms: readonly Form[]): number {
  const last = text.charCodeAt(text.length - 1);
  let most = 0;
  for (const { text: form } of forms) {
    for (let length = Math.min(form.length - 1, text.length); length > most; length--) {
      // Most lengths are ruled out by one character.
      if (form.charCodeAt(length - 1) === last && text.endsWith(form.slice(0, length))) most = length;
    }
  }
  return most;
}

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
