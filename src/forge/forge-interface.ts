/**
 * `forge/`: tools and skills that are made while everything runs: `creation/` builds, tries and approves a draft, `disk/` keeps its versions,
 * `live/` puts them into the workspace, `import/` brings in what others made. May import the workspace and what is below it. Start
 * with this interface, then `open-forge.ts` and `creation/pass-gate.ts`.
 */
import type { Diagnostic } from "../core/diagnostics.ts";
import type { Failure } from "../core/errors.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { Permissions } from "../core/permissions.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Store } from "../core/store.ts";
import type { ToolContext, ToolAnnotations } from "../core/tool.ts";
import type { Runtimes } from "../runtimes/open-runtimes.ts";
import type { FolderTrustOptions } from "../skills/trust/folder-trust.ts";
import type { FollowedSkills } from "../workspace/skills/folder-skills.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { PipelineDraft, SkillDraft, ToolChanges, ToolDraft } from "./drafts/tool-draft.ts";

/** What tools may be made without asking a person. */
export interface ForgePolicy {
  /** What a tool may be given at once. @default nothing */
  readonly permissions?: Permissions;
  /** Addresses of tools that the code of a tool may declare in `uses` at once. @default none */
  readonly uses?: readonly string[];
  /** How large the code and the files of a tool may be together. @default 1 MiB */
  readonly maxBytes?: number;
  /** How many tools there may be. @default 1000 */
  readonly maxTools?: number;
  /** How many examples a tool may have. @default 50 */
  readonly maxExamples?: number;
  /** How many recorded calls an edit is held against. @default 20 */
  readonly maxReplays?: number;
  /** How long one example may run, if the tool does not say less. @default 30_000 */
  readonly exampleLimitMs?: number;
}

/** What {@link openForge} takes. */
export interface ForgeOptions extends FolderTrustOptions {
  /** Where tools become live. */
  readonly workspace: Workspace;
  /** The project; tools lie in its `.kitbag/tools`, skills in its `.kitbag/skills`. */
  readonly directory: string;
  /** The store of the workspace: recorded calls are read from it, and the state of tools. @default no calls are replayed */
  readonly store?: Store;
  /** What tools are built and tried with; the caller closes them. @default ones of its own */
  readonly runtimes?: Runtimes;
  readonly policy?: ForgePolicy;
  /** Who edits, if a change does not say. @default no author is named */
  readonly author?: string;
  /** Asked when a tool wants more than the policy grants. `undefined`: not decided yet, it waits. @default it waits */
  readonly approve?: (waiting: WaitingTool) => boolean | undefined | Promise<boolean | undefined>;
  /** The project's skills, if their folders are watched: the watcher then adds the ones that are made. @default the forge adds them */
  readonly followed?: FollowedSkills;
  /** Whether folders that others change are followed. @default true */
  readonly watch?: boolean;
}

/** Said with a change. */
export interface ChangeOptions extends TrialOptions {
  readonly author?: string;
}

/** Said with whatever tries a tool. */
export interface TrialOptions {
  readonly signal?: AbortSignal;
  /**
   * Makes the calls of other tools while a tool is tried: of a tool's context, they are made for the caller of that tool, and only
   * what this caller may call is called. Give it as it is: by it the forge knows a caller who may not call every tool, lets them change only
   * what they may call, and makes only their own recorded calls again. @default the workspace's, without a user
   */
  readonly call?: ToolContext["call"];
}

/** Said with an edit. */
export interface UpdateOptions extends ChangeOptions {
  /** The version that the editor saw; if another one is live by now, nothing is changed. @default whichever is live */
  readonly expectedVersion?: string;
}

/** Said when an earlier version is brought back. */
export interface RollbackOptions extends UpdateOptions {
  /** A person has agreed that it is laxer than the version of now. @default then it is refused */
  readonly isAgreed?: boolean;
}

/** Said with a draft of a skill. */
export interface SkillChangeOptions extends UpdateOptions {
  /** Makes the next version of the skill of this name, if one was made here. @default a name that is taken is refused */
  readonly replace?: boolean;
}

/** Said when what was written by hand is taken in. */
export interface AdoptOptions extends ChangeOptions {
  /** Of the whole folder, as the person saw it. @default as it is */
  readonly digest?: string;
}

/** Where a message about a draft belongs, and what to do. `file` is a file of the tool, or `draft`. */
export type ForgeDiagnostic = Diagnostic;

/** The result of one example. */
export interface ExampleResult {
  /** Counts from 0. */
  readonly index: number;
  readonly description?: string;
  readonly passed: boolean;
  readonly input: JsonObject;
  readonly expected?: JsonValue;
  /** What came, cut if it is long; none if it failed. */
  readonly got?: JsonValue;
  readonly error?: Failure;
  /** What the program said beside its output, cut. */
  readonly stderr?: string;
  readonly durationMs: number;
}

/** A call that was recorded, made again with the new version. */
export interface ReplayDifference {
  /** The address of the tool, if it is one of a skill. */
  readonly tool?: string;
  readonly input: JsonObject;
  readonly before: JsonValue;
  /** What comes now; none if it fails now. */
  readonly after?: JsonValue;
  readonly error?: Failure;
}

/** How recorded calls go with a new version. */
export interface ReplayReport {
  /** How many were made again. */
  readonly calls: number;
  readonly same: number;
  readonly differences: readonly ReplayDifference[];
  /** Why none was, if none was. */
  readonly skipped?: string;
}

/** How far a new version is from the one before. */
export type VersionStep = "major" | "minor" | "patch";

/** A tool that is live now, and all that a caller needs. */
export interface LiveTool {
  readonly status: "live";
  readonly name: string;
  /** The name that models and MCP clients see. */
  readonly wireName: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly permissions: Permissions;
  /** How to call it, in one line each. */
  readonly howToCall: readonly string[];
  readonly examples: readonly ExampleResult[];
  /** The version before, how far this one is from it and why. */
  readonly change?: {
    readonly from: string;
    readonly step: VersionStep;
    readonly reasons: readonly string[];
  };
  readonly replay?: ReplayReport;
  /** The addresses of the pipelines that call it, which call this version from now on; absent if no pipeline does. */
  readonly usedBy?: readonly string[];
  /** What is worth knowing; no errors. */
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/**
 * A draft that waits for a person because it wants more than the policy grants, or takes back a promise of the version before.
 * Nothing of it has run.
 */
export interface WaitingTool {
  readonly status: "waiting";
  readonly id: string;
  /** Whether it becomes a tool or a skill. */
  readonly makes: "tool" | "skill";
  readonly name: string;
  readonly description: string;
  /** The version that it is an edit of; none for a new tool. */
  readonly from?: string;
  /** What it wants beyond the policy. */
  readonly asks: Permissions;
  /** What else it asks for: to call other tools, or to take back that it is destructive or that its calls are approved. */
  readonly laxer?: readonly string[];
  readonly author?: string;
  /** What the author could call when it was drafted. @default everything */
  readonly authorScopes?: readonly string[];
  /** The user whose it becomes. @default the local user */
  readonly owner?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A draft that did not pass. Nothing of it is live, and nothing of it is left. */
export interface RefusedTool {
  readonly status: "refused";
  readonly name: string;
  /** In one line with the cure. */
  readonly error: Failure;
  readonly diagnostics: readonly ForgeDiagnostic[];
  readonly examples: readonly ExampleResult[];
}

/** The result of a draft or an edit. */
export type ForgeAnswer = LiveTool | WaitingTool | RefusedTool;

/** A skill that is live now, and all that a caller needs. */
export interface LiveSkill {
  readonly status: "live";
  readonly name: string;
  /** Of the skill and of all its tools. */
  readonly version: string;
  /** The folder, relative to the project. */
  readonly path: string;
  /** The addresses of its tools, which exist while it is open. */
  readonly tools: readonly string[];
  readonly howToCall: readonly string[];
  /** The version before, how far this one is from it and why. */
  readonly change?: LiveTool["change"];
  /** How recorded calls of its tools go with it, if it replaces another version. */
  readonly replay?: ReplayReport;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** The result of a draft of a skill. */
export type SkillAnswer = LiveSkill | WaitingTool | RefusedTool;

/** A skill that was made here. */
export interface ForgedSkill {
  readonly name: string;
  /** `untrusted`: it is not run until a person says `kitbag trust`. */
  readonly status: "live" | "untrusted" | "deleted";
  /** The one that is live, or was. */
  readonly version: string;
  /** Its files are not those of a version that is kept. */
  readonly editedByHand?: true;
  /** As of a {@link ForgedTool}. */
  readonly owner?: string;
  readonly shared?: boolean;
}

/** The result of trying a tool with its examples. */
export interface TestReport {
  readonly name: string;
  readonly version: string;
  readonly passed: boolean;
  readonly examples: readonly ExampleResult[];
}

/** One version of a tool: the oldest first, each as it was when it became live. */
export interface ForgeVersion {
  readonly version: string;
  readonly current: boolean;
  readonly description: string;
  /** `sha256:` of everything that it is made of. */
  readonly digest: string;
  /** When it first became live. */
  readonly at: number;
  readonly author?: string;
  readonly step?: VersionStep;
  readonly reasons?: readonly string[];
}

/** Something that happened to a tool, the oldest first. Nothing is ever taken out. */
export interface ForgeEvent {
  readonly type: "create" | "update" | "rollback" | "delete" | "restore";
  readonly version: string;
  readonly from?: string;
  /** Of an edit: how far it is from the version before, and why. */
  readonly step?: VersionStep;
  readonly reasons?: readonly string[];
  readonly at: number;
  readonly author?: string;
  /** Where the version was fetched from, if it was not made here. */
  readonly source?: string;
}

/** What became of a folder with a tool. Nothing vanishes. */
export interface ForgedTool {
  readonly name: string;
  /** The folder, absolute. */
  readonly directory: string;
  /** `untrusted`: it is not run until a person says `kitbag trust`; `broken`: see `diagnostics`. */
  readonly status: "live" | "untrusted" | "broken" | "deleted";
  readonly version?: string;
  /** Its files are not those of a version that is kept: {@link Forge.adoptTool} makes one of them. */
  readonly editedByHand?: true;
  readonly description?: string;
  readonly annotations?: ToolAnnotations;
  /** The user who owns it. @default the local user */
  readonly owner?: string;
  /** Whether it is there for every user although it has an owner. */
  readonly shared?: boolean;
  readonly diagnostics: readonly ForgeDiagnostic[];
}

/** A tool that was taken out. */
export interface DeletedTool {
  readonly name: string;
  /** The version that {@link Forge.restoreTool} brings back. */
  readonly version: string;
  /** The addresses of the pipelines that call it, and fail from now on; absent if no pipeline does. */
  readonly usedBy?: readonly string[];
}

/** Makes, changes and looks after tools while everything runs. */
export interface Forge {
  readonly workspace: Workspace;
  /** The project. */
  readonly directory: string;
  /**
   * Makes a tool: builds it, runs its examples in the sandbox with exactly its permissions, and only then puts it into the
   * workspace. Never throws for what is wrong with the draft.
   */
  createTool(draft: ToolDraft, options?: ChangeOptions): Promise<ForgeAnswer>;
  /** Makes a tool out of calls of other tools, which must be there. */
  createPipeline(draft: PipelineDraft, options?: ChangeOptions): Promise<ForgeAnswer>;
  /**
   * Makes the next version of a tool, through the same gate. The ones before stay callable as `name@1.2.0`.
   *
   * @throws {KitbagError} `tool-not-found`; `draft-refused` if the tool of now is not trusted or broken.
   */
  updateTool(name: string, changes: ToolChanges, options?: UpdateOptions): Promise<ForgeAnswer>;
  /**
   * Makes the next version of what a person wrote by hand into a tool's folder, byte for byte, if its examples pass: the person who says so
   * has read it, so it gets the permissions that it asks for, and the versions that are kept may run, too. If they do not pass, it is
   * not live, and all is as it was.
   *
   * @throws {KitbagError} `tool-not-found`; `version-conflict` if the folder is not in the state `digest` any more.
   */
  adoptTool(name: string, options?: AdoptOptions): Promise<ForgeAnswer>;
  /**
   * Writes a skill's folder, if the checker and the tools' examples pass, and adds the skill to the workspace, closed. One whose tools
   * want more than the policy grants waits. With `replace` it is the next version of a skill that was made here; tools of the ones
   * before stay callable as `skill/tool@1.2.0`.
   */
  createSkill(draft: SkillDraft, options?: SkillChangeOptions): Promise<SkillAnswer>;
  /** The skills that were made here, by name, also those that were deleted. */
  listSkills(): readonly ForgedSkill[];
  /** @throws {KitbagError} `skill-not-found`; `draft-refused` if it was not made here */
  listSkillVersions(name: string): Promise<readonly ForgeVersion[]>;
  /** What happened to a skill. @throws {KitbagError} as {@link Forge.listSkillVersions} */
  skillHistory(name: string): Promise<readonly ForgeEvent[]>;
  /** The draft that a version was made from; none of what was written by hand. @throws {KitbagError} `version-not-found`, too */
  readSkillDraft(name: string, version?: string): Promise<SkillDraft | undefined>;
  /** Makes an earlier version of a skill the live one again, with all its tools. @throws {KitbagError} `version-not-found`, too */
  rollbackSkill(name: string, version: string, options?: RollbackOptions): Promise<SkillAnswer>;
  /** Takes a skill out. {@link Forge.restoreSkill} brings it back. @throws {KitbagError} `version-conflict`, too */
  deleteSkill(name: string, options?: UpdateOptions): Promise<Pick<DeletedTool, "name" | "version">>;
  restoreSkill(name: string, options?: ChangeOptions): Promise<SkillAnswer>;
  /** Runs the examples of the live version, or of another one. @throws {KitbagError} `version-not-found`, `tool-not-found` */
  testTool(name: string, options?: TrialOptions & { readonly version?: string }): Promise<TestReport>;
  /** Everything in the tools folder, by name. */
  listTools(): readonly ForgedTool[];
  /** @throws {KitbagError} `tool-not-found` */
  listVersions(name: string): Promise<readonly ForgeVersion[]>;
  /** What happened to a tool. @throws {KitbagError} `tool-not-found` */
  history(name: string): Promise<readonly ForgeEvent[]>;
  /** The draft that a version was made from, to edit it. @throws {KitbagError} `version-not-found`, `tool-not-found` */
  readDraft(name: string, version?: string): Promise<ToolDraft>;
  /** Makes an earlier version the live one again, and keeps that it happened. */
  rollbackTool(name: string, version: string, options?: RollbackOptions): Promise<ForgeAnswer>;
  /** Takes a tool out. Its versions stay, so {@link Forge.restoreTool} brings it back. @throws {KitbagError} `tool-not-found` */
  deleteTool(name: string, options?: UpdateOptions): Promise<DeletedTool>;
  restoreTool(name: string, options?: ChangeOptions): Promise<ForgeAnswer>;
  /** What a tool keeps from one call to the next for a user, by default the local user. @throws {KitbagError} `tool-not-found` */
  state: Workspace["openState"];
  /** Drafts that wait for a person, the oldest first. */
  listWaiting(): readonly WaitingTool[];
  /** Makes a draft that waits live. It is tried again first. @throws {KitbagError} `draft-not-found` */
  approve(id: string, options?: ChangeOptions): Promise<ForgeAnswer | SkillAnswer>;
  /** Throws a draft away that waits. @throws {KitbagError} `draft-not-found` */
  deny(id: string, options?: ChangeOptions): Promise<WaitingTool>;
  /** Reads the tools folder again; when folders are followed, this happens by itself. */
  refresh(): Promise<void>;
  /** Stops following folders. Tools stay live. */
  close(): Promise<void>;
}
