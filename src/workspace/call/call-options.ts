import type { FileNamer } from "../../core/call-files.ts";
import type { Failure } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { Scopes } from "../../core/scopes.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";

/** What may be said with one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly limitMs?: number;
  readonly maxOutputBytes?: number;
  readonly maxCalls?: number;
  /** Values for the tools' `inject`; they go before the tool's and the workspace's. */
  readonly injected?: Readonly<Record<string, unknown>>;
  /** Asked instead of the workspace's. */
  readonly approve?: Approve;
  /** Asked about tools that need an approval, also inside the call, if neither the call nor the workspace says who decides. */
  readonly approveIfNobody?: Approve;
  /**
   * What the caller may call, here and in every call inside it: scopes as tokens have them (`tools:read`, `tools:of:pdf`).
   * @default every tool
   */
  readonly scopes?: Scopes;
  /**
   * Says why the caller may not call a tool; `undefined` if they may. Asked before anything else is done, about this call and about
   * every call inside it. One that throws refuses. A part of a composed tool that is in the workspace only as that is the composed tool.
   * @default everybody may call everything
   */
  readonly refuse?: (tool: RegisteredTool) => Failure | undefined;
  /**
   * A name for this use of the tool by this user: with the same key and input it is run once, also after a crash. The outcome is kept and
   * given again. One that was running when its process died is run again only if the tool is idempotent.
   */
  readonly idempotencyKey?: string;
  /** Whose turn it is when calls wait: higher numbers first, from -100 to 100; users of one priority take turns. @default 0 */
  readonly priority?: number;
  /** What to do when a limit is reached: wait as long as the deadline allows, or fail at once. @default "wait" */
  readonly onLimit?: "wait" | "fail";
  /**
   * Who asks. What the call keeps is theirs: state, large outputs, failed calls; the records name them. `"local"` is the local user, who
   * also owns what calls without a user keep. @default no user is named
   */
  readonly user?: string;
  /**
   * Where in a trace the caller is, as the W3C header of this name says it; what is no such text is ignored.
   * @default the active span of OpenTelemetry
   */
  readonly traceparent?: string;
  /** What belongs to `traceparent`, as the W3C header of this name says it. */
  readonly tracestate?: string;
  /** The owner whose tools a bare name means first. */
  readonly from?: string;
  /**
   * Who names the files in the input: what is named in a parameter of {@link Tool.files} is there for the tool in this call. Only the
   * local user, with all scopes, is taken for a `person`. @default "model"; "remote" if `user` is another than the local one
   */
  readonly namedBy?: FileNamer;
  /** Runs the agents that this call, and those inside it, ask for. @default tools that are agents run by themselves, if they can */
  readonly agents?: AgentCaller;
  /** Told how much the tool says that it paid, each time that it does (`context.spend`); also by the tools of the calls inside it. */
  readonly onSpend?: (costUsd: number) => void;
  /** Gets the events of this call and of those inside it. */
  readonly onEvent?: (event: CallEvent) => void;
}

/** Nothing was said. */
export const noOptions: CallOptions = Object.freeze({});

/** A call that was asked for. */
export interface CallRequest {
  /** An address, or the tool itself. */
  readonly tool: unknown;
  readonly input: unknown;
  readonly options: CallOptions;
}

/** A call that waits for an approval. */
export interface ApprovalRequest {
  readonly call: string;
  readonly parent?: string;
  /** The addresses of the tools on whose behalf it is, the outermost first; none if the caller asks for the tool itself. */
  readonly callers: readonly string[];
  readonly user?: string;
  /** The tool's address. */
  readonly address: string;
  readonly tool: Tool;
  /** Exactly what will run: a copy, so changing it changes nothing. */
  readonly input: JsonValue;
  /** Why a guard wants it to be asked about. */
  readonly reason?: string;
  /** Aborted when the answer is not needed any more. */
  readonly signal: AbortSignal;
}

/** The answer: yes, no with a reason for the model, or yes with another input, which is checked again. */
export type ApprovalDecision =
  | { readonly decision: "approve"; readonly input?: unknown }
  | { readonly decision: "deny"; readonly reason: string };

/** Decides on a call. One that throws or answers anything else denies. The deadline does not run while it waits. */
export type Approve = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;

/** Runs the agents that a call, and the calls inside it, ask for: the run of an agent, on behalf of one of its calls. */
export interface AgentCaller {
  /** Answers with the output of the agent's run, or rejects with why there is none. */
  run(request: AgentRequest): Promise<unknown>;
}

/** A call of a tool that is an agent. */
export interface AgentRequest {
  readonly tool: Tool;
  /** Checked and approved. */
  readonly input: unknown;
  readonly context: RuntimeContext;
  /** The addresses of the tools from the outermost call to this one. */
  readonly chain: readonly string[];
  /** Whether the run itself makes the call, and not a tool that the run calls. */
  readonly isDirect: boolean;
  /** Decides on calls inside it, if the caller or the workspace says who does. */
  readonly approve: Approve | undefined;
}
