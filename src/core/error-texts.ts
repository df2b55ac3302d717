import type { Problem, UntilThen } from "./error-details.ts";

/** The longest part of a foreign error that a message repeats. */
const longestCause = 1000;

/** Says in words what was thrown, shortened. Never throws, whatever it was. */
export function describeCause(cause: unknown, longest = longestCause): string {
  try {
    const text = String(cause instanceof Error ? cause.message || cause.name : cause);
    return text.length > longest ? `${text.slice(0, longest)}…` : text;
  } catch {
    return "something that cannot be shown";
  }
}

/** The longest part of a foreign text that a message repeats. */
const longestQuote = 120;

/** Puts `text` in quotes, shortened, with control and invisible characters shown instead of obeyed. */
export function quote(text: string): string {
  const short = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text;
  return JSON.stringify(short).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, showCharacter);
}

/** The name of a user as a word of a command line; a placeholder for a name that cannot be typed. */
export function toWord(name: string): string {
  if (name.length > longestQuote || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return "<user>";
  return /^[\w.@:/+-]+$/u.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}

function showCharacter(character: string): string {
  const digits = Number(character.codePointAt(0)).toString(16);
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`;
}

/** Adds the HTTP status of an answer, if there was one. */
export function withStatus(reason: string, status: number | undefined): string {
  return status === undefined ? reason : `${reason}, status ${status}`;
}

/** Says when a model may be asked again. */
export function whenToRetry(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined ? "try again later" : `retry after ${Math.ceil(retryAfterMs / 100) / 10} s`;
}

/** Writes problems as one text, not too many of them. */
export function problemList(problems: readonly Problem[]): string {
  const shown = problems.slice(0, 20).map(describeProblem);
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`);
  return shown.join("; ");
}

/** Writes one problem as text. */
export function describeProblem({ path, expected, found, didYouMean }: Problem): string {
  const where = path === "" ? "" : `${path}: `;
  const cure = didYouMean === undefined ? "" : ` (did you mean ${quote(didYouMean)}?)`;
  return `${where}expected ${expected}, found ${found}${cure}`;
}

/** How much of a text, and how many calls, a message repeats; all that is kept is in the details. */
const longestSaid = 1000;
const mostNamed = 20;

/** What a tool that was stopped had called and said, as lines below a message. */
export function sayUntilThen({ stdout, stderr, console, calls = [] }: UntilThen = {}): string {
  const named = calls.slice(-mostNamed).map(({ tool, status }) => `${tool} (${status})`);
  const parts = [
    ["it had called", named.join(", ")],
    ["it had printed", stdout ?? console],
    ["and on stderr", stderr],
  ];
  return parts
    .map(([what, text = ""]) => (text === "" ? "" : `\n→ ${what}: ${text.slice(-longestSaid).trimEnd()}`))
    .join("");
}

/** The oldest Node that Kitbag runs on. */
export const oldestNode = "22.19";

/** Whether Kitbag runs on this version of Node. An older one would only say that some name is missing, or nothing at all. */
export function isNodeSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Whether a call of the system failed because this process, or the machine, has as many files open as it may. */
export function isExhausted(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "EMFILE" || cause.code === "ENFILE");
}
