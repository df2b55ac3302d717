import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Store } from "../../core/store.ts";
import type { OutputKeeper } from "../output-keeper.ts";
import type { Registry } from "../registry.ts";
import type { InFlight } from "../skills/in-flight.ts";
import type { SkillSet } from "../skills/skill-set.ts";
import type { CallOptions, WorkspaceLimits, WorkspaceOptions } from "../workspace.ts";
import type { Slots } from "./slots.ts";
import type { Call } from "./call.ts";

/** What the phases need of the workspace that a call happens in. */
export interface CallHost {
  readonly registry: Registry;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly limits: WorkspaceLimits;
  readonly injected: WorkspaceOptions["injected"];
  readonly approve: WorkspaceOptions["approve"];
  readonly redactor: Redactor | undefined;
  readonly store: Store | undefined;
  readonly outputs: OutputKeeper;
  readonly slots: Slots;
  readonly inFlight: InFlight;
  readonly skills: SkillSet;
  nextId(): string;
  isHeard(): boolean;
  tell(event: CallEvent): void;
  tellOne(listener: (event: CallEvent) => void, event: CallEvent): void;
  /** Makes a call inside `parent`. */
  callInside(parent: Call, request: CallRequest): Promise<ToolOutcome>;
}

/** What somebody asks to be called. */
export interface CallRequest {
  /** An address, or the tool itself. */
  readonly tool: unknown;
  readonly input: unknown;
  readonly options: CallOptions;
}
