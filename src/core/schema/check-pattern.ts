import { describeCause } from "../errors.ts";
import { findPatternPaths } from "./pattern-paths.ts";
import { parsePattern } from "./pattern-tree.ts";
import { hasFewWays } from "./pattern-ways.ts";

const longestPattern = 1000;

/**
 * Says what to write instead of `pattern`; `undefined` if it is a regular expression that takes time in proportion to the text,
 * whatever the text is.
 *
 * A matcher goes back and tries another way when one fails, and a model writes the text: two repeats that can take the same
 * characters are tried in every combination. So the ways through the pattern are counted that a matcher can be on at one place,
 * for every text there can be. This errs on the side of refusing.
 */
export function checkPattern(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return `at most ${longestPattern} characters`;
  try {
    void new RegExp(pattern, "u");
  } catch (cause) {
    return `a regular expression for the flag "u" (${describeCause(cause)})`;
  }
  const parsed = parsePattern(simplifyPattern(pattern));
  if (!parsed.ok) return parsed.expected;
  const paths = findPatternPaths(parsed.tree);
  if (paths !== undefined && hasFewWays(paths, parsed.hasConditions)) return undefined;
  return 'a pattern that can be read in one way only (start it with "^", and let no repeat take what follows it: "[^@]+@", not ".+@")';
}

/**
 * The same pattern without a `.*` at its beginning, which matches nothing that the rest would not match by itself, but is tried
 * again at each place of the text. Schema libraries write it for "ends with".
 */
export function simplifyPattern(pattern: string): string {
  return pattern.replace(/^\.\*\??(?![*+?{])/u, "");
}
