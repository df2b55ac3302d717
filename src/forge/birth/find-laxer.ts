import type { Permissions } from "../../core/permissions.ts";
import type { Tool } from "../../core/tool.ts";
import { permissionsBeyond } from "../permissions-beyond.ts";

/**
 * What an edit takes back of what a tool promised to those who let it be called: a person decides about that, as about permissions.
 * Whoever may not call what destroys, or only what reads, could otherwise edit it first.
 */
export function findLaxer(before: Tool, after: Tool): readonly string[] {
  const [was, is] = [before.annotations, after.annotations];
  const gained = was.readOnly === true ? permissionsBeyond(after.permissions, before.permissions) : after.permissions;
  return [
    ...(before.needsApproval && !after.needsApproval ? ["calls without an approval"] : []),
    ...(was.destructive === true && is.destructive !== true ? ["not to count as destructive"] : []),
    ...(is.readOnly === true && mayChange(gained) ? ["to count as read-only"] : []),
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
