import { quote } from "../../core/errors.ts";

/** A path for a message: as it is, or in quotes if something in it would not be shown as a letter. */
export function showPath(path: string): string {
  // Nearly all are like this, and other letters take a while to tell from signs.
  if (/^[\x20-\x7E]{1,200}$/u.test(path)) return path;
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,200}$/u.test(path) ? path : quote(path);
}
