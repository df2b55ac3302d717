import { hasAllTools, mayCallTool } from "../../../core/scopes.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../../workspace/registered-tool.ts";
import type { Session } from "../../../workspace/sessions/session.ts";

/**
 * A session as a caller with few scopes sees it: tools that they may not call are not there, and a call of one fails with
 * `scope-missing`, whether they make it themselves or a program, a pipeline or another tool does on their behalf. Whoever may call every tool gets the session itself.
 */
export function guardSession(session: Session, caller: Caller): Session {
  const { scopes } = caller;
  if (scopes === "all" || hasAllTools(scopes)) return session;
  const key = [...scopes].toSorted().join(" ");
  const known = guarded.get(session) ?? new Map<string, Session>();
  guarded.set(session, known);
  const made = known.get(key) ?? createGuard(session, scopes);
  // Tokens may have any scopes: what is kept for them must not grow without end.
  if (known.size >= mostGuards) known.clear();
  known.set(key, made);
  return made;
}

const mostGuards = 100;

/** By their scopes: what is kept for a session, such as its lists, is found again. */
const guarded = new WeakMap<Session, Map<string, Session>>();

function createGuard(session: Session, scopes: ReadonlySet<string>): Session {
  const isAllowed = (entry: RegisteredTool | undefined): boolean => entry !== undefined && mayCallTool(scopes, entry);
  const allowed = new WeakMap<readonly RegisteredTool[], readonly RegisteredTool[]>();

  function filter(entries: readonly RegisteredTool[]): readonly RegisteredTool[] {
    const known = allowed.get(entries) ?? entries.filter(isAllowed);
    allowed.set(entries, known);
    return known;
  }

  return {
    ...session,
    getTool: (address) => allowedOnly(session.getTool(address)),
    isToolAvailable: (address) => isAllowed(session.getTool(address)) && session.isToolAvailable(address),
    getAvailableTools: () => filter(session.getAvailableTools()),
    getToolSource: (address) => (isAllowed(session.getTool(address)) ? session.getToolSource(address) : undefined),
    onChange: (listener) =>
      session.onChange(({ added, removed, replaced }) => {
        const seen = {
          added: added.filter(isAllowed),
          removed: removed.filter(isAllowed),
          replaced: replaced.filter(isAllowed),
        };
        if (seen.added.length + seen.removed.length + seen.replaced.length > 0) listener(seen);
      }),
    getActiveSkillTools: () => session.getActiveSkillTools().filter(isAllowed),
    call: ((tool: string, input?: unknown, options?: CallOptions) =>
      session.call(tool, input, { ...options, scopes })) as Session["call"],
    invokeSkill: (name, argumentText, options) => session.invokeSkill(name, argumentText, { ...options, scopes }),
  };

  function allowedOnly(entry: RegisteredTool | undefined): RegisteredTool | undefined {
    return isAllowed(entry) ? entry : undefined;
  }
}
