import { isName, nameRule } from "../../core/names.ts";
import { modelToolNames } from "../../core/own-tools.ts";

/** Names that systems take for devices, whatever ending they have. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu;

/** Tools that are always there for a model, and the workspace itself. */
const reserved: ReadonlySet<string> = new Set([...modelToolNames, "global"]);

/** Why `name` cannot be the name of a tool or a skill that is made, and of its folder; nothing if it can. */
export function refuseName(name: unknown): string | undefined {
  if (!isName(name)) return `a name is ${nameRule}${suggest(name)}`;
  if (name.endsWith(".")) return 'a name does not end in ".": some systems drop it';
  if (devices.test(name)) return "some systems take this name for a device; take another one";
  if (reserved.has(name.toLowerCase())) return "Kitbag itself has a tool of this name; take another one";
  return undefined;
}

/** A name that is nearly the one that was meant. */
function suggest(name: unknown): string {
  if (typeof name !== "string") return "";
  const plain = name.normalize("NFKD").replaceAll(/\p{Mark}/gu, "");
  const near = plain
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "-")
    .replaceAll(/^[_.-]+|[_.-]+$/gu, "")
    .slice(0, 64);
  return isName(near) ? `; such as "${near}"` : "";
}

/** Finds a name that is the same folder where case does not count, but not the same name. */
export function findTwin(name: string, taken: Iterable<string>): string | undefined {
  const folded = name.toLowerCase();
  for (const one of taken) if (one !== name && one.toLowerCase() === folded) return one;
  return undefined;
}
