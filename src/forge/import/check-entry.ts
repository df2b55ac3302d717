/** Windows reads these as devices, whatever stands behind the dot. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/iu;

const longestPath = 1024;

/**
 * Says what is wrong with the name of an entry: it must be a plain path that stays where it is unpacked, on every system. Nothing if
 * it is right. A slash at the end is for the caller to take off.
 */
export function checkEntryPath(path: string, maxDepth: number): string | undefined {
  if (path === "") return "has no name";
  if (path.length > longestPath) return `has a name of more than ${longestPath} characters`;
  if (/[\0-\x1f\x7f]/u.test(path)) return "has a control character in its name";
  if (!path.isWellFormed() || path.includes("\uFFFD")) return "has a name that is no text";
  if (/^[\\/]|^[A-Za-z]:/u.test(path)) return "has an absolute name";
  if (path.includes("\\")) return "has a backslash in its name";
  const parts = path.split("/");
  if (parts.includes("..")) return "leads out of the folder that it is unpacked to";
  if (parts.some((part) => part === "" || part === ".")) return "has an empty part in its name";
  if (parts.some((part) => deviceName.test(part) || /[. ]$|[:*?"<>|]/u.test(part))) {
    return "has a name that not every system can hold";
  }
  return parts.length - 1 > maxDepth ? `is more than ${maxDepth} folders deep` : undefined;
}
