import { isIgnoredFile, isIgnoredFolder } from "../../skills/folder/ignored-names.ts";

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/u;
const longestPath = 200;
const mostFiles = 100;

/** Why these paths cannot be files of a tool, one line each. `own` are names that have a meaning there. */
export function refuseFiles(paths: readonly string[], own: readonly string[]): readonly string[] {
  const reasons = paths.flatMap((path) => {
    const reason = refusePath(path, own);
    return reason === undefined ? [] : [`files[${JSON.stringify(path.slice(0, longestPath))}]: ${reason}`];
  });
  if (paths.length > mostFiles) reasons.unshift(`files: there are ${paths.length}, and ${mostFiles} may be there`);
  const seen = new Map<string, string>();
  for (const path of paths) {
    const twin = seen.get(path.toLowerCase());
    if (twin !== undefined) reasons.push(`files: ${path} and ${twin} are one file where case does not count`);
    seen.set(path.toLowerCase(), path);
  }
  return reasons;
}

function refusePath(path: string, own: readonly string[]): string | undefined {
  const parts = path.split("/");
  if (path.length > longestPath || !parts.every((part) => segment.test(part) && !part.endsWith("."))) {
    return 'a path is names of letters, digits, "_", "-" and ".", with "/" between them, and stays in the folder';
  }
  const top = parts[0]?.toLowerCase() ?? "";
  if (own.includes(top)) return "Kitbag keeps something of its own there; take another name";
  if (parts.some((part) => isIgnoredFolder(part)) || isIgnoredFile(parts.at(-1) ?? "")) {
    return "a file of this name is never part of a tool";
  }
  return undefined;
}
