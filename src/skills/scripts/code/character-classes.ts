import type { Syntax } from "./syntax.ts";

/** White space. These are bits, because a character can begin several things. */
export const blank = 1;
/** The end of a line. */
export const newline = 2;
/** It may begin a comment. */
export const commentStart = 4;
/** It may begin a string. */
export const quoteStart = 8;
/** It may begin a word. */
export const wordStart = 16;
/** It may stand in a word. */
export const wordRest = 32;

const knownClasses = new WeakMap<Syntax, Uint8Array>();

/** The classes of the characters of ASCII in a language, by their codes; whatever is beyond belongs to words. */
export function classesFor(syntax: Syntax): Uint8Array {
  const classes = knownClasses.get(syntax) ?? classesOf(syntax);
  knownClasses.set(syntax, classes);
  return classes;
}

function classesOf({ lineComments, blockComments, strings, word }: Syntax): Uint8Array {
  const classes = new Uint8Array(128);
  const mark = (characters: Iterable<string>, bit: number): void => {
    for (const character of characters) {
      const code = character.charCodeAt(0);
      classes[code] = (classes[code] ?? 0) | bit;
    }
  };
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const { start, rest } = word instanceof RegExp ? { start: "_$@%&:", rest: "" } : word;
  mark(" \t\r", blank);
  mark("\n", newline);
  mark([...lineComments, ...blockComments.map(([open]) => open)], commentStart);
  mark(
    strings.map(({ open }) => open),
    quoteStart,
  );
  mark(letters + start, wordStart);
  mark(`${letters}0123456789${rest}`, wordRest);
  return classes;
}
