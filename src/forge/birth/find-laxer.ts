import type { Permissions } from "../../core/permissions.ts";
import type { Tool } from "../../core/tool.ts";

/**
 * What an edit takes back of what a tool promised to those who let it be called: a person decides about that, as about permissions.
 * Whoever may not call what destroys, or only what reads, could otherwise edit it first.
 */
export function findLaxer(before: Tool, after: Tool): readonly string[] {
  const [was, is] = [before.annotations, after.annotations];
  return [
    ...(before.needsApproval && !after.needsApproval ? ["calls without an approval"] : []),
    ...(was.destructive === true && is.destructive !== true ? ["not to count as destructive"] : []),
    ...(was.readOnly !== true && is.readOnly === true && mayChange(after.permissions) ? ["to count as read-only"] : []),
  ];
}

/** The same for tools that have the same name in two versions of a skill. */
export function findLaxerTools(before: readonly Tool[], after: readonly Tool[]): readonly string[] {
  return after.flatMap((tool) => {
    const known = before.find(({ name }) => name === tool.name);
    return known === undefined ? [] : findLaxer(known, tool).map((one) => `${tool.name}: ${one}`);
  });
}

/** What may touch nothing changes nothing, whatever it says of itself. */
function mayChange({ write = [], network = [], run = [] }: Permissions): boolean {
  return write.length + network.length + run.length > 0;
}
