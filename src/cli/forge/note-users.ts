import type { LiveTool } from "../../forge/forge-interface.ts";

/** What to look at after a tool has changed, for the end of a message; empty if no pipeline uses it. */
export function noteUsers({ usedBy = [] }: Pick<LiveTool, "usedBy">): string {
  return usedBy.length === 0
    ? ""
    : `\nUsed by ${usedBy.join(", ")}: see whether that is right with kitbag test ${usedBy.join(" ")}`;
}
