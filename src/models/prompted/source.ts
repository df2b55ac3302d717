/** The text of an answer, or as much of it as has come. Readers look at it and never keep it. */
export interface Source {
  text: string;
  /** Nothing will be added. */
  ended: boolean;
  /** It ended before the model had said all. */
  isCut: boolean;
  /** The number of characters read, for tests that count the work. */
  steps: number;
  /** How many values began and did not end. Each may cost a scan of the whole text, so there is a limit. */
  runaways: number;
  /** Where tokens were found, so that the same token is not searched for again. */
  readonly found: Map<string, { readonly from: number; readonly at: number }>;
}

/** How many values may begin and not end before no more of them are looked for. */
export const mostRunaways = 16;

/** Makes a source. */
export function createSource(text: string, ended = true): Source {
  return { text, ended, isCut: false, steps: 0, runaways: 0, found: new Map() };
}

/** Thrown when a decision needs more text. One shared object, because it is only a signal. */
export const needMore = new Error("More text is needed");

/** Thrown when there is no value to read. Shared, too. */
export const unreadable = new Error("The text cannot be read");

/** Tells whether the text ends at `at`; throws `needMore` if more text may follow. */
export function isOver(source: Source, at: number): boolean {
  if (at < source.text.length) return false;
  if (!source.ended) throw needMore;
  return true;
}

/** Tells whether `token` is at `at`; throws `needMore` if only its beginning has arrived. */
export function startsWith(source: Source, at: number, token: string): boolean {
  source.steps += 1;
  if (source.text.startsWith(token, at)) return true;
  const left = source.text.length - at;
  if (!source.ended && left < token.length && token.startsWith(source.text.slice(at))) throw needMore;
  return false;
}

/**
 * Matches a sticky pattern at `at`, which matches at most `longest` characters. Throws `needMore` if more text may change the
 * result.
 */
export function matchAt(source: Source, at: number, pattern: RegExp, longest: number): RegExpExecArray | null {
  const { text } = source;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  source.steps += (match?.[0].length ?? 0) + 1;
  if (!source.ended && text.length - at < longest && (match === null || at + match[0].length === text.length))
    throw needMore;
  return match;
}

/** No tag is longer. */
const longestTag = 512;

/** Matches a sticky pattern for one tag, from `<` to `>`. Carries control away if the tag has not ended. */
export function matchTag(source: Source, at: number, pattern: RegExp): RegExpExecArray | null {
  const { text } = source;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  source.steps += (match?.[0].length ?? 0) + 1;
  if (
    match === null &&
    !source.ended &&
    text.length - at < longestTag &&
    !/[<>]/u.test(text.slice(at + 1, at + longestTag))
  ) {
    throw needMore;
  }
  return match;
}

/** Finds `token` at or behind `at`; the end of the text if it is not there. Carries control away if it may still come. */
export function findToken(source: Source, at: number, token: string): number {
  const known = source.found.get(token);
  if (known !== undefined && known.from <= at && at <= known.at) return known.at;
  const index = source.text.indexOf(token, at);
  if (index === -1) isOver(source, source.text.length);
  const found = index === -1 ? source.text.length : index;
  source.steps += found - at;
  source.found.set(token, { from: at, at: found });
  return found;
}

const unseen = /[\s\u200B-\u200D\u2060\uFEFF\u00AD]/u;

/** Tells whether a character is white space, or one that cannot be seen. */
export function isSpace(character: string): boolean {
  const code = character.charCodeAt(0);
  return code < 0x80 ? code === 0x20 || (code >= 9 && code <= 13) : unseen.test(character);
}

/** The first place at or behind `at` that is no white space. Carries control away if there may be more. */
export function skipSpace(source: Source, at: number): number {
  let next = at;
  while (next < source.text.length && isSpace(source.text.charAt(next))) next += 1;
  source.steps += next - at + 1;
  isOver(source, next);
  return next;
}

/** The first place at or behind `at` where none of these characters is. Carries control away if there may be more. */
export function skipRun(source: Source, at: number, characters: string): number {
  let next = at;
  while (!isOver(source, next) && characters.includes(source.text.charAt(next))) next += 1;
  return next;
}
