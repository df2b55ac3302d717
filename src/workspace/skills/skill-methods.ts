import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Failure } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import type { CallOptions } from "../call/call-options.ts";
import type { SkillUsage } from "./running-calls.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { CatalogOptions, RenderedCatalog, RenderToolsOptions } from "./render-skills.ts";
import type { FoundItem, SearchOptions } from "./search-workspace.ts";

/** How opening or closing a skill ended. */
export type SkillOutcome =
  | {
      readonly status: "ok";
      /** Skills that are open now and were not before. */
      readonly opened: readonly string[];
      /** Skills that were open before and are not now. */
      readonly closed: readonly string[];
      /** What went wrong without stopping it: a failing `onDeactivate`. */
      readonly warnings: readonly Failure[];
    }
  | { readonly status: "failed"; readonly error: Failure };

/** What may be said when a skill is added. */
export interface AddSkillOptions {
  /** Values for the `inject` of its tools; they go before the workspace's. */
  readonly injected?: Readonly<Record<string, unknown>>;
}

/** What may be said when a skill is opened or closed. */
export interface SkillOptions {
  readonly signal?: AbortSignal;
  /** What happens to calls of the skill's tools that are running when it closes. @default "finish" */
  readonly running?: "finish" | "cancel";
}

/** What may be said when a skill is used; all but `directory` and `onDiagnostic` is for the commands in its text. */
export interface InvokeOptions extends Pick<
  CallOptions,
  "approve" | "approveIfNobody" | "limitMs" | "onEvent" | "refuse" | "scopes" | "signal" | "user"
> {
  /** How the reader of the text names the skill's folder. @default its absolute path */
  readonly directory?: string;
  /** Told of what could not be put into the text: commands that were not run or failed, arguments that are too large. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}

/** What a skill is like now. */
export interface SkillState {
  readonly skill: Skill;
  readonly active: boolean;
  readonly usage: SkillUsage;
}

/** The tools of a skill, and whether they exist now. */
export interface SkillToolState {
  readonly skill: string;
  readonly tools: readonly Tool[];
  readonly active: boolean;
  /** Addresses of its tools that are available now. */
  readonly available: readonly string[];
}

/** What a workspace can do with skills. */
export interface SkillMethods {
  /**
   * Adds a skill, closed. Of a skill that is defined in several versions the newest is used; tools of the others can be called as
   * `skill/tool@1.2.0`.
   *
   * @throws {KitbagError} `skill-duplicate` if there is one of this name, and of this version or without a version; `owner-invalid` if a component has it.
   */
  addSkill(skill: Skill, options?: AddSkillOptions): void;
  /**
   * Puts another version in the place of the skill of this name, in one change. If it is open it stays open with the new tools.
   *
   * @throws {KitbagError} `skill-not-found` if there is no such skill; `skill-broken` if it is open and the new version could not be:
   * then everything stays as it was.
   */
  replaceSkill(skill: Skill): void;
  /**
   * Closes skills and takes them out, all in one change; then runs `onDeactivate` of those that were open, the last opened first.
   * What cannot be open without them is closed too, and what was open only for them. A failing `onDeactivate` is warned of.
   * Answers whether one of them was there.
   */
  removeSkill(names: string | Iterable<string>, options?: SkillOptions): Promise<boolean>;
  getSkill(name: string): Skill | undefined;
  getSkills(): readonly SkillState[];

  /**
   * Opens a skill: its tools exist from now on. All of it happens or nothing: the skills it requires are opened with it, and a
   * failing `onActivate` leaves everything as it was. Opening an open skill does nothing. Never throws.
   */
  activateSkill(name: string, options?: SkillOptions): Promise<SkillOutcome>;
  /**
   * Closes a skill: nothing new starts from now on. Skills that were opened only for it are closed too. One that another open skill
   * requires stays open until that one closes, and a warning says so. Without a name, the one skill that is open is closed; if several
   * were opened, it fails with `skill-name-missing`. Never throws.
   */
  deactivateSkill(name?: string, options?: SkillOptions): Promise<SkillOutcome>;

  getActiveSkills(): readonly string[];
  getActiveSkillTools(): readonly RegisteredTool[];
  /** Their addresses. */
  getActiveSkillToolNames(): readonly string[];
  isToolFromActiveSkill(address: string): boolean;
  getAllSkillToolStates(): readonly SkillToolState[];
  /** The tools of a skill, open or not. @throws {KitbagError} `skill-not-found` */
  getSkillTools(name: string): readonly Tool[];

  /**
   * The text for one use of a skill. It need not be open. Commands in its text (`` !`git status` ``) are run in the sandbox if the
   * skill could be opened, its permission `run` lists their programs and the workspace has the runtimes for scripts; the text
   * says why one was not run, or failed. Rejects only with a {@link KitbagError} `skill-not-found`.
   */
  invokeSkill(name: string, argumentText?: string, options?: InvokeOptions): Promise<string>;
  /**
   * The instructions of the open skills: what must stay in a conversation however it is shortened. Empty if none is open. Runs
   * nothing: commands stay as they are written, with a note.
   */
  activeInstructions(): string;
  /** The list of skills for a prompt, within a budget. */
  renderCatalog(options?: CatalogOptions): RenderedCatalog;
  /** The tools of the open skills, in a section of their own. Empty without open skills. */
  renderSkillTools(options?: RenderToolsOptions): string;
  /** Finds skills and tools by words, open or not, the best first. */
  search(query: string, options?: SearchOptions): readonly FoundItem[];
}
