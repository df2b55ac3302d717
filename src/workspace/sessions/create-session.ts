import { noOptions } from "../call/call-options.ts";
import { createToolQueries } from "./create-tool-queries.ts";
import { createListeners } from "../listeners.ts";
import type { OutputKeeper } from "../outputs/output-keeper.ts";
import type { WorkspaceChange } from "../registered-tool.ts";
import { createSkillUses, type SkillUseParts } from "./create-skill-uses.ts";
import type { Session } from "./session.ts";

/** What sessions stand on. */
export interface SessionParts extends SkillUseParts {
  readonly outputs: OutputKeeper;
}

/** Makes a session that begins with what the workspace has open. */
export function createSession(parts: SessionParts): Session {
  const { registry, set, start, outputs } = parts;
  const changes = createListeners<WorkspaceChange>();
  const holder = set.openHolder(changes);
  let closing: Promise<void> | undefined;

  return {
    ...createToolQueries(registry.viewOf(holder)),
    ...createSkillUses(parts, holder),
    call: (tool: unknown, input?: unknown, options = noOptions) =>
      start({ tool, input, options }, undefined, undefined, holder) as Promise<never>,
    readOutput: outputs.read,
    searchOutput: outputs.search,
    sliceOutput: outputs.slice,
    onChange: changes.add,
    close: () => (closing ??= set.closeHolder(holder)),
  };
}
