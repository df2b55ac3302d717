import { redactJson } from "./redaction/redact-json.ts";

/** What an invisible character does: changes the direction of text, has no width, spells hidden letters, controls terminals. */
export type HiddenKind = "bidirectional" | "zero-width" | "tag" | "variation" | "control";

/** Invisible characters of one kind, one after the other. */
export interface HiddenCharacters {
  readonly offset: number;
  /** The code point of the first. */
  readonly codePoint: number;
  /** How many there are. */
  readonly count: number;
  readonly kind: HiddenKind;
  /** The text that tag characters spell, in plain letters. */
  readonly spells?: string;
}

/** The code points of each kind, as ranges. */
const kinds: Readonly<Record<HiddenKind, readonly (readonly [number, number])[]>> = {
  control: [
    [0x00, 0x08],
    [0x0b, 0x0b],
    [0x0e, 0x1f],
    [0x7f, 0x9f],
  ],
  bidirectional: [
    [0x061c, 0x061c],
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ],
  "zero-width": [
    [0x00ad, 0x00ad],
    [0x034f, 0x034f],
    [0x115f, 0x1160],
    [0x17b4, 0x17b5],
    [0x180b, 0x180f],
    [0x200b, 0x200d],
    [0x2028, 0x2029],
    [0x2060, 0x2065],
    [0x206a, 0x206f],
    [0x3164, 0x3164],
    [0xfeff, 0xfeff],
    [0xffa0, 0xffa0],
    [0xfff9, 0xfffb],
    [0x13430, 0x1343f],
    [0x1bca0, 0x1bca3],
    [0x1d173, 0x1d17a],
  ],
  tag: [
    [0xe0000, 0xe00ff],
    [0xe01f0, 0xe0fff],
  ],
  variation: [
    [0xfe00, 0xfe0f],
    [0xe0100, 0xe01ef],
  ],
};

const kindNames = Object.keys(kinds) as HiddenKind[];
const suspects = new RegExp(kindNames.map((kind) => `(${toPattern(kind)})`).join("|"), "gu");
const plainSuspects = new RegExp(`(${toPattern("control")})`, "gu");

/**
 * Matches all kinds and a few other characters, in UTF-16 units; most texts have no match. It has 15 ranges on purpose: V8 compares up to
 * 16 ranges one by one, which is several times faster than the table that it makes for more.
 */
const anySuspect =
  /[\u034F\u0000-\u0008\u000B\u000E-\u001F\u007F-\u009F\u00AD\u061C\u115F-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uDB40-\uDB43\uFEFF\uFFA0-\uFFFB]|[\uFE00-\uFE0F]|\uD80D[\uDC30-\uDC3F]|\uD82F[\uDCA0-\uDCA3]|\uD834[\uDD73-\uDD7A]/;

function toPattern(kind: HiddenKind): string {
  const escape = (code: number): string => `\\u{${code.toString(16)}}`;
  return `[${kinds[kind].map(([from, to]) => `${escape(from)}-${escape(to)}`).join("")}]+`;
}

/**
 * Finds the characters of `text` that a person does not see, but a model reads. It leaves out those that a text needs: joiners inside
 * emoji and between letters of scripts that use them, direction marks beside right-to-left text, the tags of flags. It also leaves out a
 * single left-to-right mark, which changes nothing.
 *
 * Contract: takes time in proportion to the text, and less with `ascii`, which says that no character is above U+007F.
 */
export function* findHiddenCharacters(text: string, { ascii = false } = {}): Generator<HiddenCharacters> {
  if (!ascii && !anySuspect.test(text)) return;
  for (const match of text.matchAll(ascii ? plainSuspects : suspects)) {
    const [run, ...groups] = match;
    const kind = kindNames[groups.findIndex((group) => group !== undefined)] as HiddenKind;
    // A single left-to-right mark changes no direction; editors leave it behind in copied text.
    if (isNeeded(text, match.index, run) || run === "\u200E") continue;
    const count = Array.from(run).length;
    const spells = kind === "tag" ? { spells: toPlainLetters(run) } : {};
    yield { offset: match.index, codePoint: run.codePointAt(0) as number, count, kind, ...spells };
  }
}

/** The escape sequences of terminals: colours, titles, links. */
const terminalCommands = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\^_])/gu;

/** The kinds with which a text says something else than a person sees. Only these are removed from data for programs. */
const deceptive: readonly HiddenKind[] = ["tag", "bidirectional"];

/**
 * Removes invisible characters and escape sequences of terminals from a text, but not the characters that the text needs. Every text
 * that a model reads and that Kitbag did not write goes through this function.
 */
export function toVisibleText(text: string): string {
  if (!anySuspect.test(text)) return text;
  const plain = text.replaceAll(terminalCommands, "").replaceAll(/[\u2028\u2029]/gu, "\n");
  // Invisible characters that other characters separated may be one run now.
  return removeRuns(removeRuns(plain, kindNames), kindNames);
}

/** Removes tags and characters that change the direction from a text for programs. All other characters stay. */
export function toHonestText(text: string): string {
  return anySuspect.test(text) ? removeRuns(text, deceptive) : text;
}

/** Applies `clean` to all texts and keys of a JSON value. Answers with the value itself if that changes nothing. */
export function cleanJson<Value>(value: Value, clean: (text: string) => string): Value {
  return redactJson(value, { text: clean, key: clean, number: (number) => number }) as Value;
}

function removeRuns(text: string, removed: readonly HiddenKind[]): string {
  return text.replaceAll(suspects, (run: string, ...rest: readonly unknown[]) => {
    const kind = kindNames[rest.findIndex((group) => group !== undefined)] as HiddenKind;
    return !removed.includes(kind) || isNeeded(text, rest[kindNames.length] as number, run) ? run : "";
  });
}

/** Writes a code point the way Unicode does: `U+200B`. */
export function showCodePoint(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}

const flag = /\u{1F3F4}$/u;
/** The flags of England, Scotland and Wales: only they are written with tags. */
const flagTags = new RegExp(`^(?:${["gbeng", "gbsct", "gbwls"].map(toTags).join("|")})\\u{E007F}$`, "u");
/** Characters whose form a variation selector chooses: ideographs have all selectors, emoji and signs the first sixteen. */
const ideographBefore = /\p{Script=Han}$/u;
const signBefore =
  /[\p{Emoji}\p{S}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Phags_Pa}\u3001-\u3002\uFF01-\uFF1B]$/u;
const beforeJoiner = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]$/u;
const afterJoiner = /^\p{Extended_Pictographic}/u;
const joiningLetterBefore = /(?![\p{Variation_Selector}\u0000-\u05FF])[\p{L}\p{M}]$/u;
const letterAfter = /^(?!\p{Variation_Selector})[\p{L}\p{M}]/u;
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/u;

/** Tells whether the text needs these characters. It looks only at a few characters before and after them. */
function isNeeded(text: string, offset: number, run: string): boolean {
  const before = text.slice(Math.max(0, offset - 2), offset);
  const after = text.slice(offset + run.length, offset + run.length + 2);
  if (flagTags.test(run)) return flag.test(before);
  // One selector chooses the form of the character before it. Several in a row can carry a hidden message.
  if (/^[\uFE00-\uFE0F]$/u.test(run)) return signBefore.test(before);
  if (/^[\u{E0100}-\u{E01EF}]$/u.test(run)) return ideographBefore.test(before);
  if (run === "\u200C" || run === "\u200D") {
    const inEmoji = run === "\u200D" && beforeJoiner.test(before) && afterJoiner.test(after);
    return inEmoji || (joiningLetterBefore.test(before) && letterAfter.test(after));
  }
  if (run === "\u200E" || run === "\u200F" || run === "\u061C") {
    return rightToLeft.test(text.slice(Math.max(0, offset - 40), offset) + text.slice(offset + 1, offset + 40));
  }
  return false;
}

function toTags(word: string): string {
  return Array.from(word, (letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join("");
}

/** The longest part of a hidden message that is shown. */
const longestMessage = 80;

function toPlainLetters(tags: string): string {
  let letters = "";
  for (const tag of tags) {
    const code = (tag.codePointAt(0) as number) - 0xe0000;
    if (code >= 0x20 && code < 0x7f) letters += String.fromCharCode(code);
    if (letters.length >= longestMessage) return `${letters}…`;
  }
  return letters;
}
