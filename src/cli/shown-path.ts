import { isAbsolute, relative, sep } from "node:path";

/** A path as a person would type it: from the working directory if it is inside, with `/`. */
export function toShownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? path : inside.split(sep).join("/") || ".";
}
