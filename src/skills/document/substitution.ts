import { isArgumentName } from "./read-fields.ts";

/** What placeholders stand for. */
export interface PlaceholderValues {
  /** All arguments, as typed. */
  readonly typed: string;
  readonly words: readonly string[];
  /** The names of the arguments, in order. */
  readonly names: readonly string[];
  /** For `${NAME}`, and `{baseDir}`. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A placeholder in a text. */
export interface Placeholder {
  readonly token: string;
  /** Not set when it was not given. */
  readonly value: string | undefined;
  /** It stands for an argument, and not for a folder. */
  readonly isArgument: boolean;
}

/** Fills in placeholders, in one text or in several pieces of it. */
export interface Substitution {
  /** The placeholder that begins at `offset`, if there is one. Escapes are ignored. */
  find(text: string, offset: number): Placeholder | undefined;
  /** Contract: one pass over the text; placeholders in inserted text are not replaced. */
  apply(text: string): string;
  /** At least one placeholder took an argument. */
  readonly used: boolean;
  /** A placeholder was left as it is, because the text would have become too large. */
  readonly full: boolean;
}

/** The most characters that values may add: a short placeholder and a long value multiply. */
const maxAdded = 4_194_304;

/** Makes a substitution. */
export function createSubstitution(values: PlaceholderValues): Substitution {
  const indexByName = toIndexByName(values.names);
  const pattern = toPattern([...indexByName.keys()]);
  const sticky = new RegExp(pattern, "uy");
  let used = false;
  let room = maxAdded;
  let full = false;

  const fill = (token: string, value: string | undefined): string => {
    if (value === undefined) return token;
    if (value.length > room) {
      full = true;
      return token;
    }
    room -= value.length;
    return value;
  };

  const toPlaceholder = (match: RegExpExecArray): Placeholder => ({
    token: match[0],
    value: valueOf(match, values, indexByName),
    isArgument: match.groups?.["variable"] === undefined && match[0].startsWith("$"),
  });

  return {
    find(text, offset) {
      sticky.lastIndex = offset;
      const match = sticky.exec(text);
      return match === null ? undefined : toPlaceholder(match);
    },
    apply(text) {
      let result = "";
      let from = 0;
      for (const match of text.matchAll(pattern)) {
        const { token, value, isArgument } = toPlaceholder(match);
        if (isArgument && isEscaped(text, match.index)) {
          result += text.slice(from, match.index - 1) + token;
        } else {
          used ||= isArgument && value !== undefined;
          result += text.slice(from, match.index) + fill(token, value);
        }
        from = match.index + token.length;
      }
      return result + text.slice(from);
    },
    get used() {
      return used;
    },
    get full() {
      return full;
    },
  };
}

function toIndexByName(names: readonly string[]): Map<string, number> {
  const indexByName = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    if (isArgumentName(name) && !indexByName.has(name)) indexByName.set(name, index);
  }
  return indexByName;
}

function toPattern(names: readonly string[]): RegExp {
  // The longest name first, so that `$file-name` is not read as `$file`.
  const ordered = names.toSorted((left, right) => right.length - left.length);
  const end = "(?![A-Za-z0-9_])";
  const named = ordered.length === 0 ? "" : `|(?<name>${ordered.join("|")})${end}`;
  const argument = String.raw`\$(?:ARGUMENTS\[(?<index>\d{1,3})\]|(?<all>ARGUMENTS)${end}|(?<digits>\d{1,3})${end}${named})`;
  return new RegExp(String.raw`${argument}|\$\{(?<variable>[A-Z][A-Z0-9_]{0,63})\}|\{baseDir\}`, "gu");
}

/** One backslash escapes; two are two backslashes. */
function isEscaped(text: string, offset: number): boolean {
  return text[offset - 1] === "\\" && text[offset - 2] !== "\\";
}

/** A number without an argument stays as it is written; a name without one becomes empty. */
function valueOf(
  match: RegExpExecArray,
  { typed, words, variables }: PlaceholderValues,
  indexByName: ReadonlyMap<string, number>,
): string | undefined {
  const { index, all, digits, name, variable } = match.groups ?? {};
  if (all !== undefined) return typed;
  if (index !== undefined || digits !== undefined) return words[Number(index ?? digits)];
  if (name !== undefined) return words[indexByName.get(name) ?? -1] ?? "";
  const key = variable ?? "baseDir";
  return Object.hasOwn(variables, key) ? variables[key] : undefined;
}
