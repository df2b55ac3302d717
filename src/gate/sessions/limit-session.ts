import { KitbagError, toFailure } from "../../core/errors.ts";
import { hasAllTools, isThereFor, mayCallTool, toScopesKey, type Scopes } from "../../core/scopes.ts";
import type { Skill } from "../../core/skill.ts";
import type { Caller } from "../gate.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Session, Workspace } from "../../workspace/workspace.ts";
import type { SkillOutcome } from "../../workspace/skills/skill-methods.ts";

/**
 * A session as a caller sees it: tools and skills that another user made and has not shared are not there, nor tools that the caller's
 * scopes do not allow, nor skills of which they may call no tool. A call of such a tool fails, whether they make it themselves or a
 * program, a pipeline or another tool does on their behalf. For a caller that may be on another machine, the texts of skills do not say
 * where they lie on this one, but what `nameFolder` answers.
 */
export function limitSession(
  session: Session,
  { id, scopes: given }: Caller,
  { ownerOf }: Pick<Workspace, "ownerOf">,
  nameFolder?: FolderName,
): Session {
  const owner = ownerOf(id);
  const scopes = hasAllTools(given) ? "all" : given;
  const key = JSON.stringify([owner ?? null, nameFolder?.name ?? "", toScopesKey(scopes)]);
  const known = limitedSessions.get(session) ?? new Map<string, Session>();
  limitedSessions.set(session, known);
  const made = known.get(key) ?? createLimited(session, { owner, scopes, nameFolder });
  // Tokens may have any scopes: what is kept for them must not grow without end.
  if (known.size >= mostViews) known.clear();
  known.set(key, made);
  return made;
}

const mostViews = 100;

/** How a client on another machine names the folder of a skill. A named function: what is kept for a session is found by the name. */
export type FolderName = (skill: Skill) => string;

/** By user and scopes: what is kept for a session, such as its lists, is found again. */
const limitedSessions = new WeakMap<Session, Map<string, Session>>();

/** The user and scopes that a session is limited to. */
interface Viewer {
  readonly owner: string | undefined;
  readonly scopes: Scopes;
  readonly nameFolder: FolderName | undefined;
}

/** Tells what a viewer has. */
interface View {
  isAllowed(entry: RegisteredTool | undefined): boolean;
  isForCaller(skill: Skill): boolean;
  /** Whether a skill of this name is for the caller, or there is no such skill. */
  isNamed(name: string): boolean;
}

function createView(session: Session, { owner, scopes }: Pick<Viewer, "owner" | "scopes">): View {
  const isAllowed = (entry: RegisteredTool | undefined): boolean =>
    entry !== undefined && isThereFor(entry.tool.author, owner) && mayCallTool(scopes, entry);
  const isForCaller = ({ name, tools, author }: Skill): boolean =>
    isThereFor(author, owner) &&
    (scopes === "all" ||
      tools.length === 0 ||
      tools.some((tool) => isAllowed(session.getTool(`${name}/${tool.name}`))));
  return {
    isAllowed,
    isForCaller,
    isNamed(name) {
      const skill = session.getSkill(name);
      return skill === undefined || isForCaller(skill);
    },
  };
}

/** What a caller can do with skills. */
function limitSkills(
  session: Session,
  { scopes, nameFolder }: Viewer,
  { isAllowed, isForCaller, isNamed }: View,
): Pick<Session, "activateSkill" | "getActiveSkillTools" | "getSkill" | "getSkills" | "invokeSkill" | "search"> {
  const show = nameFolder === undefined ? (skill: Skill) => skill : (skill: Skill) => withoutPath(skill, nameFolder);
  return {
    getSkill(name) {
      const skill = session.getSkill(name);
      return skill !== undefined && isForCaller(skill) ? show(skill) : undefined;
    },
    getSkills: () =>
      session
        .getSkills()
        .filter(({ skill }) => isForCaller(skill))
        .map((state) => (nameFolder === undefined ? state : { ...state, skill: show(state.skill) })),
    async activateSkill(name, options) {
      if (!isNamed(name)) return missing(name);
      const outcome = await session.activateSkill(name, options);
      return nameFolder === undefined ? outcome : withoutPathIn(outcome);
    },
    search: (query, options) =>
      session
        .search(query, options)
        .filter(({ kind, address }) => (kind === "skill" ? isNamed(address) : isAllowed(session.getTool(address)))),
    getActiveSkillTools: () => session.getActiveSkillTools().filter(isAllowed),
    async invokeSkill(name, argumentText, options) {
      const refused = isNamed(name) ? undefined : missing(name).error;
      if (refused !== undefined) throw new KitbagError(refused.code, refused.details);
      const skill = session.getSkill(name);
      const place = nameFolder === undefined || skill === undefined ? {} : { directory: nameFolder(skill) };
      return session.invokeSkill(name, argumentText, { ...options, ...place, scopes });
    },
  };
}

const shownRemotely = new WeakMap<FolderName, WeakMap<Skill, Skill>>();

/** The same skill, which does not say where its folder is. The same object each time: it is a key of what is kept for a skill. */
function withoutPath(skill: Skill, nameFolder: FolderName): Skill {
  const { folder, render } = skill;
  if (folder === undefined) return skill;
  const shown = shownRemotely.get(nameFolder) ?? new WeakMap<Skill, Skill>();
  shownRemotely.set(nameFolder, shown);
  const made: Skill = shown.get(skill) ?? {
    ...skill,
    folder: { ...folder, shownAs: folderOf(skill.name) },
    ...(render !== undefined && {
      render: (argumentText, parts) => render(argumentText, { ...parts, directory: nameFolder(skill) }),
    }),
  };
  shown.set(skill, made);
  return made;
}

/** Opening a skill may fail for one that it requires, so the error does not come from a skill without path. */
function withoutPathIn(outcome: SkillOutcome): SkillOutcome {
  if (outcome.status === "ok" || outcome.error.code !== "skill-untrusted") return outcome;
  const { details } = outcome.error;
  return { status: "failed", error: toFailure("skill-untrusted", { ...details, directory: folderOf(details.skill) }) };
}

function folderOf(skill: string): string {
  return `<the folder of ${skill}>`;
}

function createLimited(session: Session, viewer: Viewer): Session {
  const { scopes } = viewer;
  const view = createView(session, viewer);
  const { isAllowed } = view;
  const allowed = new WeakMap<readonly RegisteredTool[], readonly RegisteredTool[]>();

  function filter(entries: readonly RegisteredTool[]): readonly RegisteredTool[] {
    // The same array if all of it is allowed: what is made of it is shared by all callers.
    const known = allowed.get(entries) ?? (entries.every(isAllowed) ? entries : entries.filter(isAllowed));
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
    ...limitSkills(session, viewer, view),
    call: ((tool: string, input?: unknown, options?: CallOptions) =>
      session.call(tool, input, { ...options, scopes })) as Session["call"],
  };

  function allowedOnly(entry: RegisteredTool | undefined): RegisteredTool | undefined {
    return isAllowed(entry) ? entry : undefined;
  }
}

function missing(skill: string): Extract<SkillOutcome, { status: "failed" }> {
  return { status: "failed", error: toFailure("skill-not-found", { skill, nearest: [], count: 0 }) };
}
