import type { Guard } from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Refine } from "../../core/schema/to-schema.ts";
import type { Scopes } from "../../core/scopes.ts";
import type { Tool, ToolContext } from "../../core/tool.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import type { PriceOf } from "../../models/prices/price-of.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { ModelSettings, RunLimits, RunOptions } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";
import type { Question, UsageCounter } from "../cost/usage-counter.ts";
import type { AgentEvent, ApprovalDecided, CallSpent, ModelAnswered } from "../events.ts";
import type { Exposure } from "../exposure/exposure.ts";
import type { AgentHooks } from "../hooks.ts";
import type { AskedApproval } from "../log/approval-seal.ts";
import type { KeptEvent, RunLog } from "../log/run-log.ts";
import type { OpenConversation } from "../memory/conversations/open-conversation.ts";
import type { LongTermMemory } from "../memory/long-term/long-term-memory.ts";
import type { Memory } from "../memory/memory-options.ts";
import type { ReadyModel } from "../model-source.ts";
import type { RunTrace } from "../telemetry/run-trace.ts";
import type { EventFeed } from "./event-feed.ts";
import type { LoopDetector } from "./loop-detector.ts";
import type { PromptDigest } from "./prompt-digest.ts";
import { ShownTools } from "./shown-tools.ts";
import type { StopWait } from "./until-stopped.ts";

/** What the answer must be like. */
export interface OutputRule {
  readonly json: JsonSchema;
  /** What the model is asked for: always an object. */
  readonly asked: JsonSchema;
  readonly refine?: Refine;
}

/** What a run was given. */
export interface RunParts {
  readonly id: string;
  /** Whose run it is: another agent's after a handoff. */
  readonly agent: AgentParts;
  /** The addresses of the agents from the outermost one to this one; none for an agent that is run by itself. */
  readonly path: readonly string[];
  readonly start: RunStart;
  /** The addresses of the tools on whose behalf it makes its calls, the outermost first. */
  readonly callers: readonly string[];
  /** The model, as it was asked for. */
  readonly askedModel: Model | string;
  /** Makes the model ready of an agent that the conversation is handed to. */
  readonly findModel: (agent: AgentParts) => Promise<ReadyModel>;
  /** Where what its user uses is counted. */
  readonly quotas: readonly Quotas[];
  readonly model: Model;
  /** `provider/model`. */
  readonly modelName: string;
  readonly session: Session;
  readonly exposure: Exposure;
  readonly memory: Memory;
  readonly log: RunLog;
  readonly feed: EventFeed;
  readonly hooks: AgentHooks;
  /** Hooks of this run alone, and not of its agent. */
  readonly givenHooks: AgentHooks | undefined;
  readonly limits: RunLimits;
  readonly settings: ModelSettings;
  readonly counter: UsageCounter;
  readonly digest: PromptDigest;
  readonly detector: LoopDetector;
  readonly approve: Approve | undefined;
  readonly user: string | undefined;
  /** What the user may call; everything if nothing is said. */
  readonly scopes: Scopes | undefined;
  /** What looks at tasks, calls and answers, in order. */
  readonly guards: readonly Guard[];
  readonly output: OutputRule | undefined;
  /** Its spans, if telemetry is on. */
  readonly trace: RunTrace | undefined;
  /** What is remembered across conversations. */
  readonly longTerm: LongTermMemory | undefined;
  /** The conversation that it is a part of, if that is kept. */
  readonly conversation: OpenConversation | undefined;
  /** Aborted when the run is to stop. */
  readonly signal: AbortSignal;
  /** What a question costs, in US dollars. */
  readonly priceOf: PriceOf;
}

/** What is there before a run has begun. */
export interface RunStart {
  readonly id: string;
  readonly options: RunOptions;
  readonly feed: EventFeed;
  readonly signal: AbortSignal;
  /** Its spans, if telemetry is on. */
  readonly trace?: RunTrace | undefined;
  /** The call of a tool which the run is: what it calls, it calls on behalf of that call. @default it is no call */
  readonly inside?: InsideCall;
  /** The run of the agent that waits for it. @default no run does */
  readonly parent?: ParentRun;
  /** How its agent is found from the agent that resumes it: it was made from the run of a sub-agent. @default it is that agent */
  readonly path?: readonly string[];
}

/** A call that is a run. */
export interface InsideCall {
  readonly call: ToolContext["call"];
  /** The addresses of the tools from the outermost call to it. */
  readonly callers: readonly string[];
}

/** A run that waits for the run of a sub-agent. */
export interface ParentRun {
  readonly run: RunState;
  /** `step.call` in it, and the address of the agent. */
  readonly call: string;
  readonly address: string;
  /** Counts what the sub-agent uses. */
  readonly counter: UsageCounter;
}

/** A handoff that was called. */
export interface Handoff {
  readonly tool: Tool | undefined;
  readonly address: string;
  /** Its place among the calls of the answer. */
  readonly index: number;
}

const noNames: ReadonlySet<string> = new Set();

/** A run while it lasts. */
export class RunState {
  /** Others after a handoff. */
  parts: RunParts;
  /** What the model sees of the conversation now, but for the system text. */
  messages: ModelMessage[];
  /** How many messages of the conversation were there before the run. */
  earlier = 0;
  /** How many there were when it began; unknown for a run that was made from another, of which nothing is remembered. */
  begunWith: number | undefined;
  /** What the run added to a conversation that is kept, as far as it is not in `messages` any more; and where the rest begins there. */
  readonly said: ModelMessage[] = [];
  saidFrom = 0;
  /** Whether messages were left out: then those from before are not the first `earlier` any more. */
  isCompacted = false;
  /** How often the model was asked. */
  step = 0;
  /** The step of its last answer: what is said now is said behind that. */
  answered = 0;
  /** The questions to the model, with their answers. */
  readonly questions: Question[] = [];
  calls = 0;
  /** What its calls cost besides. */
  readonly spent: CallSpent[] = [];
  /** How often a hook had the model asked again. */
  askedAgain = 0;
  /** By the clock of `performance`; earlier if it was worked on before, in another process. */
  startedAt = performance.now();
  /** The tools that the model was shown last, as far as the journal says. */
  shownTools = new ShownTools();
  /** How it waits for its model. */
  stopWait: StopWait | undefined;
  /** The last text of the model, and why its last answer ended. */
  text = "";
  finishReason: string | undefined;
  /** What it had said when its answer was cut: the next one goes on with it. */
  cutText = "";
  /** An answer of the journal whose calls are not all done. */
  unfinished: ModelAnswered | undefined;
  /** The caller's messages to add before the model is asked again. */
  readonly steering: string[] = [];
  /** Messages that, by the journal, were added while the calls of `unfinished` ran; they follow the results of those calls. */
  readonly saidMeanwhile: ModelMessage[] = [];
  /** Calls that wait for approval. */
  readonly waiting: string[] = [];
  /** Approvals that were asked for, with the inputs that were shown, and what was decided about them. */
  readonly asked = new Map<string, AskedApproval>();
  readonly decided = new Map<string, ApprovalDecided>();
  /** Calls whose outcomes are in the journal, as `step.call`. */
  done: { has(name: string): boolean } = new Set<string>();
  /** Whether a journal says how it began. */
  isResumed = false;
  /** Whether there may be runs of sub-agents below it. */
  hasChildren = false;
  /** The handoff whose agent goes on when the calls of the answer are over. */
  handedTo: Handoff | undefined;
  /** Inputs of calls, by `step.call`, where the journal has another input than the model gave. */
  changed: Map<string, JsonValue> | undefined;
  /** Calls whose input the journal holds only in part. */
  redacted: ReadonlySet<string> = noNames;
  #callIds: Set<string> | undefined;
  /** How many answers in a row were interrupted, and how many the output limit cut. */
  interrupted = 0;
  continued = 0;
  /** How often the model was told to mend its answer. */
  mended = 0;

  constructor(parts: RunParts, messages: ModelMessage[]) {
    this.parts = parts;
    this.messages = messages;
  }

  get id(): string {
    return this.parts.id;
  }

  /** The ids of the calls of the conversation. */
  get callIds(): Set<string> {
    return (this.#callIds ??= new Set(this.messages.flatMap(idsOf)));
  }

  /** Whether what the run added is needed at its end, also if the model does not see it any more. */
  get #keepsSaid(): boolean {
    return this.parts.conversation !== undefined || this.parts.longTerm !== undefined;
  }

  /** Puts what it had added where it was. */
  restoreSaid({ said, saidFrom }: { readonly said: readonly ModelMessage[]; readonly saidFrom: number }): void {
    if (this.#keepsSaid) for (const message of said) this.said.push(message);
    this.saidFrom = saidFrom;
  }

  /** Goes on with other messages in the place of those so far. */
  replaceMessages(messages: readonly ModelMessage[]): void {
    if (this.#keepsSaid) {
      for (const message of this.messages.slice(this.saidFrom)) this.said.push(message);
    }
    this.messages = [...messages];
    this.saidFrom = messages.length;
    this.isCompacted = true;
  }

  /** Tells an event to the listeners. */
  tell(event: AgentEvent): void {
    this.parts.feed.tell(event);
  }

  /** Writes an event down, then tells it. */
  async keep(event: KeptEvent): Promise<void> {
    const written = this.parts.log.write(event);
    if (written !== undefined) await written;
    this.parts.feed.tell(event);
  }
}

function idsOf({ role, content }: ModelMessage): readonly string[] {
  if (role !== "assistant") return [];
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}
