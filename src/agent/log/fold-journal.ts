import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { Sealer } from "../../records/audit/audit-keys.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import type { Question } from "../cost/usage-counter.ts";
import type {
  AgentChanged,
  AnswerDropped,
  ApprovalAsked,
  ApprovalDecided,
  CallChanged,
  CallSpent,
  CountedAnswer,
  MemoryCompacted,
  MessageAdded,
  ModelAnswered,
  TaskStart,
} from "../events.ts";
import { parseInput } from "../run/parse-input.ts";
import { addToolChanges } from "../run/shown-tools.ts";
import { isCut, isTooLong, toAssistantMessage, toCutMessage, toResultPart } from "../run/to-assistant-message.ts";
import { type AskedApproval, isGenuine } from "./approval-seal.ts";
import { checkJournal } from "./check-journal.ts";
import { fromKeptMessage } from "./run-log.ts";

/** What a journal says about a run: everything that is needed to go on with it. */
export interface Folded {
  readonly start: TaskStart;
  readonly messages: ModelMessage[];
  readonly answers: readonly ModelAnswered[];
  /** The answers, with what the model was shown before each. */
  readonly questions: readonly Question[];
  /** The last answer, if nothing was made of it yet, or not all. */
  readonly unfinished: ModelAnswered | undefined;
  /** Messages that were added while its calls ran; they follow the results of the calls. */
  readonly saidMeanwhile: readonly ModelMessage[];
  /** The outcomes of calls, by `step.call`. */
  readonly outcomes: ReadonlyMap<string, ToolOutcome>;
  /** What calls were made with, by `step.call`, if that is not what the model gave. */
  readonly changed: ReadonlyMap<string, JsonValue>;
  /** Calls whose input the journal holds only in part. */
  readonly redacted: ReadonlySet<string>;
  /** What the approver of each call was shown. */
  readonly asked: ReadonlyMap<string, AskedApproval>;
  /** Decisions that count. */
  readonly decided: ReadonlyMap<string, ApprovalDecided>;
  /** The tools that the model was shown before its last answer, each with a digest. */
  readonly shownTools: ReadonlyMap<string, string>;
  /** How often the model was told something, by reason. */
  readonly told: ReadonlyMap<MessageAdded["reason"], number>;
  /** What it was told since its last answer. */
  readonly toldSince: ReadonlySet<MessageAdded["reason"]>;
  readonly calls: number;
  /** What was paid for and is no part of the conversation: summaries, and answers that a hook did not want. */
  readonly others: readonly CountedAnswer[];
  /** How many of these a hook did not want. */
  readonly dropped: number;
  /** What calls cost besides. Of a call without an outcome, only what tools paid: the run of its sub-agent says the rest. */
  readonly spent: readonly CallSpent[];
  /** The handoffs of the conversation, in order. */
  readonly handoffs: readonly AgentChanged[];
  /** What the run said before the memory was compacted; and where in `messages` begins what it said since. */
  readonly said: readonly ModelMessage[];
  readonly saidFrom: number;
  /** Whether the memory was compacted. */
  readonly isCompacted: boolean;
}

/**
 * Reads a journal from its beginning to its end. With a `sealer`, only decisions that were sealed with its key count: any process
 * that can write to the store can have written the other lines.
 *
 * @throws {KitbagError} `run-not-found` if the journal does not belong to an agent's run; `run-damaged` if a line is malformed.
 */
export function foldJournal(runId: string, entries: readonly RunEntry[], sealer?: Sealer): Folded {
  checkJournal(runId, entries);
  return foldLines(runId, entries, sealer);
}

/** The same, for lines that are known to be sound. @throws {KitbagError} `run-not-found` */
export function foldLines(runId: string, entries: readonly RunEntry[], sealer?: Sealer): Folded {
  const folding = new Folding(sealer);
  for (const { value } of entries) folding.add(value);
  if (folding.start === undefined) throw new KitbagError("run-not-found", { run: runId });
  return { ...folding.facts(), start: folding.start };
}

class Folding {
  readonly #sealer: Sealer | undefined;
  start: TaskStart | undefined;
  #messages: ModelMessage[] = [];
  readonly #answers: ModelAnswered[] = [];
  readonly #questions: Question[] = [];
  #unfinished: ModelAnswered | undefined;
  #saidMeanwhile: ModelMessage[] = [];
  readonly #outcomes = new Map<string, ToolOutcome>();
  readonly #changed = new Map<string, JsonValue>();
  readonly #redacted = new Set<string>();
  readonly #asked = new Map<string, AskedApproval>();
  readonly #decided = new Map<string, ApprovalDecided>();
  readonly #shownTools = new Map<string, string>();
  readonly #told = new Map<MessageAdded["reason"], number>();
  readonly #toldSince = new Set<MessageAdded["reason"]>();
  #calls = 0;
  readonly #others: CountedAnswer[] = [];
  readonly #spent: CallSpent[] = [];
  readonly #handoffs: AgentChanged[] = [];
  #dropped = 0;
  readonly #said: ModelMessage[] = [];
  #saidFrom = 0;
  #isCompacted = false;

  constructor(sealer: Sealer | undefined) {
    this.#sealer = sealer;
  }

  facts(): Omit<Folded, "start"> {
    return {
      messages: this.#messages,
      answers: this.#answers,
      questions: this.#questions,
      unfinished: this.#unfinished,
      saidMeanwhile: this.#saidMeanwhile,
      outcomes: this.#outcomes,
      changed: this.#changed,
      redacted: this.#redacted,
      asked: this.#asked,
      decided: this.#decided,
      shownTools: this.#shownTools,
      told: this.#told,
      toldSince: this.#toldSince,
      calls: this.#calls,
      others: this.#others,
      spent: this.#spent.filter(({ call, usage }) => usage === undefined || this.#outcomes.has(call)),
      dropped: this.#dropped,
      handoffs: this.#handoffs,
      said: this.#said,
      saidFrom: this.#saidFrom,
      isCompacted: this.#isCompacted,
    };
  }

  add(value: JsonObject): void {
    const event: unknown = value;
    switch (value["type"] as string) {
      case "task-start":
        this.start = event as TaskStart;
        this.#messages = this.start.messages.map(fromKeptMessage);
        this.#saidFrom = this.start.earlier;
        return;
      case "model-answer":
        this.#addAnswer(event as ModelAnswered);
        return;
      case "step-outcome":
        this.#outcomes.set(value["step"] as string, value["output"] as unknown as ToolOutcome);
        return;
      case "message-added":
        this.#addMessage(event as MessageAdded);
        return;
      case "memory-compacted":
        this.#compact(event as MemoryCompacted);
        return;
      case "answer-dropped":
        this.#others.push((event as AnswerDropped).answer);
        this.#dropped += 1;
        return;
      case "call-spent":
        this.#spent.push(event as CallSpent);
        return;
      case "agent-changed":
        this.#settle();
        this.#handoffs.push(event as AgentChanged);
        return;
      case "call-changed":
        this.#change(event as CallChanged);
        return;
      case "approval-asked":
        this.#ask(event as ApprovalAsked);
        return;
      case "approval-decided":
        this.#decide(event as ApprovalDecided);
    }
  }

  /** The last change counts: what was made before it is made again. */
  #change({ call, input, redacted }: CallChanged): void {
    this.#changed.set(call, input);
    if (redacted === true) this.#redacted.add(call);
    else this.#redacted.delete(call);
  }

  /** A new request for approval voids the earlier decision. */
  #ask({ approval, tool, input }: ApprovalAsked): void {
    this.#asked.set(approval, { tool, input });
    this.#decided.delete(approval);
  }

  /** The first decision counts: the call may have been made since. */
  #decide(decided: ApprovalDecided): void {
    const { approval } = decided;
    const asked = this.#asked.get(approval);
    if (asked === undefined || this.#decided.has(approval) || !isGenuine(this.#sealer, decided, asked)) return;
    this.#decided.set(approval, decided);
  }

  #addAnswer(answer: ModelAnswered): void {
    this.#settle();
    this.#unfinished = answer;
    this.#toldSince.clear();
    this.#answers.push(answer);
    addToolChanges(this.#shownTools, answer);
    this.#questions.push({ answer, messages: this.#messages, count: this.#messages.length });
  }

  #addMessage({ reason, message }: MessageAdded): void {
    const isEarly = reason === "steering" && this.#hasOpenCalls();
    if (!isEarly) this.#settle();
    this.#told.set(reason, (this.#told.get(reason) ?? 0) + 1);
    this.#toldSince.add(reason);
    (isEarly ? this.#saidMeanwhile : this.#messages).push(fromKeptMessage(message));
  }

  #hasOpenCalls(): boolean {
    const answer = this.#unfinished;
    if (answer === undefined || isCut(answer)) return false;
    return callsOf(answer).some((_call, index) => !this.#outcomes.has(`${answer.step}.${index}`));
  }

  #compact({ messages, answer }: MemoryCompacted): void {
    this.#settle();
    for (const message of this.#messages.slice(this.#saidFrom)) this.#said.push(message);
    this.#messages = messages.map(fromKeptMessage);
    this.#saidFrom = messages.length;
    this.#isCompacted = true;
    if (answer !== undefined) this.#others.push(answer);
  }

  /** Something came behind the last answer: all its calls are over, and it is a part of the conversation. */
  #settle(): void {
    const answer = this.#unfinished;
    this.#unfinished = undefined;
    if (answer === undefined) return;
    const calls = isCut(answer) ? [] : callsOf(answer);
    const inputs = new Map(calls.map(({ id, input }) => [id, input]));
    const isPart = isCut(answer) || isTooLong(answer);
    const message = isPart ? toCutMessage(answer.content) : toAssistantMessage(answer.content, inputs);
    if (message !== undefined) this.#messages.push(message);
    if (calls.length === 0) return;
    this.#calls += calls.length;
    const results = calls.flatMap(({ id, name }, index) => {
      const outcome = this.#outcomes.get(`${answer.step}.${index}`);
      return outcome === undefined ? [] : [toResultPart(id, name, outcome)];
    });
    this.#messages.push({ role: "tool", content: results }, ...this.#saidMeanwhile.splice(0));
  }
}

/** A call that an answer asks for. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** The calls that an answer asks for, in order. */
export function callsOf({ content, finishReason }: ModelAnswered): readonly AskedCall[] {
  return content.flatMap((item) => {
    if (item.type !== "tool-call" || item.providerExecuted === true) return [];
    return [{ id: item.toolCallId, name: item.toolName, input: parseInput(item.input, finishReason).input }];
  });
}
