import { createBatchTool } from "../../../workspace/dispatch/batch-dispatch.ts";
import { createDispatchTools } from "../../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../../workspace/dispatch/dispatch-tool.ts";
import type { Session } from "../../../workspace/workspace.ts";

const tools = new WeakMap<Session, ReadonlyMap<string, DispatchTool>>();

/** The fixed few tools of a session, by name, in the order they are listed. The same each time. */
export function getDispatchTools(session: Session): ReadonlyMap<string, DispatchTool> {
  const known = tools.get(session);
  if (known !== undefined) return known;
  const [search, describe, call, ...skills] = createDispatchTools(session) as [
    DispatchTool,
    DispatchTool,
    DispatchTool,
    ...DispatchTool[],
  ];
  const all = [search, describe, call, createBatchTool(session), ...skills];
  const made = new Map(all.map((tool) => [tool.name, tool]));
  tools.set(session, made);
  return made;
}
