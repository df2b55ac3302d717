import type { ModelTool } from "../../model.ts";
import type { Request } from "../text/read-request.ts";
import { toStem, toStems } from "../text/stems.ts";

/** Things that cannot be taken back. Words in one group are said for one another. */
const groups = [
  "delete remove erase drop discard trash rm unlink",
  "wipe purge destroy clear truncate empty",
  "kill terminate stop shutdown shut",
  "overwrite replace",
  "reset revert rollback undo",
  "uninstall",
  "revoke",
  "pay purchase buy order transfer charge",
  "send mail email message reply",
  "publish deploy release post push",
  "format",
  "cancel",
].map((group) => new Set(group.split(" ").flatMap(toStem)));

/** "Formats a date" and "sends back" destroy nothing: only these count wherever they stand. */
const alwaysDangerous = new Set([
  ...(groups[0] as Set<string>),
  ...(groups[1] as Set<string>),
  ...toStems("uninstall revoke kill overwrite"),
]);

function dangersOf(tool: ModelTool): readonly ReadonlySet<string>[] {
  const own = new Set(toStems(tool.name));
  const [verb = ""] = toStems((tool.description ?? "").slice(0, 60));
  return groups.filter((group) =>
    [...group].some((stem) => (own.has(stem) || verb === stem) && (alwaysDangerous.has(stem) || !own.has("text"))),
  );
}

/** Tells whether a tool may do something that cannot be taken back, by its name and the first word of its description. */
export function isDangerous(tool: ModelTool): boolean {
  return dangersOf(tool).length > 0;
}

/** Tells whether a request says in so many words that it wants what a dangerous tool does. */
export function namesDanger({ tokens }: Request, tool: ModelTool): boolean {
  if (tokens.some(({ text }) => text === tool.name)) return true;
  return dangersOf(tool).every((group) =>
    tokens.some(({ kind, stem }, at) => {
      if (kind !== "word" || !group.has(stem)) return false;
      const before = tokens.slice(Math.max(0, at - 3), at).map(({ word }) => word);
      return !before.some((word) => /^(?:not|don't|dont|never|without|no|won't|shouldn't)$/u.test(word));
    }),
  );
}
