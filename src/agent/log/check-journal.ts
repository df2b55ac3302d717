import { describeProblem, KitbagError } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { RunEntry, RunEvent } from "../../records/runs/run-records.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { MemoryCompacted, MessageAdded, ModelAnswered, TaskStart } from "../events.ts";
import { isCut } from "../run/is-cut.ts";
import { callOutcome, journalLines } from "./journal-lines.ts";

/**
 * Makes sure that the lines of a journal are what they should be.
 *
 * @throws {KitbagError} `run-damaged`
 */
export function checkJournal(run: string, entries: readonly RunEntry[]): void {
  takeSound(run, entries, Infinity);
}

/**
 * The lines of a journal up to the first that is damaged, if they say all that happened up to a step.
 *
 * @throws {KitbagError} `run-damaged` if they do not.
 */
export function takeSound(run: string, entries: readonly RunEntry[], step: number): readonly RunEntry[] {
  const reader = new JournalReader();
  for (const [index, { position, value }] of entries.entries()) {
    const line = index + 1;
    const problem = position === line ? reader.read(value) : "it is missing";
    if (problem === undefined) continue;
    const { soundStep } = reader;
    if (soundStep !== undefined && step <= soundStep) return entries.slice(0, index);
    throw new KitbagError("run-damaged", {
      run,
      line,
      problem,
      ...(soundStep !== undefined && { soundStep }),
    });
  }
  return entries;
}

/** The names of calls among those of steps. */
const callName = /^\d+\.\d+$/u;

/** Types of lines that are about what an agent does. */
const needsStart: ReadonlySet<string> = new Set([
  "model-answer",
  "message-added",
  "memory-compacted",
  "answer-dropped",
  "call-changed",
  "approval-asked",
  "approval-decided",
]);

class JournalReader {
  #hasStart = false;
  #answers = 0;
  /** Calls that were asked for, those that were begun, and those that were asked for last and are not over. */
  readonly #asked = new Set<string>();
  readonly #begun = new Set<string>();
  #open = new Set<string>();

  /** The last step of which all is known; none if not even the task is. */
  get soundStep(): number | undefined {
    if (!this.#hasStart) return undefined;
    return this.#open.size === 0 ? this.#answers : this.#answers - 1;
  }

  /** Reads the next line. Answers with what is wrong with it, if something is. */
  read(value: JsonValue): string | undefined {
    const { type } = (value ?? {}) as Partial<RunEvent>;
    if (typeof type !== "string") return `found ${showValue(value)}, expected an object with a type`;
    const schema = journalLines.get(type);
    const [problem] = schema === undefined ? [] : checkStrictly(schema, value);
    return problem === undefined ? this.#follow(type, value as RunEvent) : `${type}: ${describeProblem(problem)}`;
  }

  /** Whether a line can come behind those before. */
  #follow(type: string, value: RunEvent): string | undefined {
    if (!this.#hasStart && needsStart.has(type)) return `${type} before the task of the run (task-start)`;
    switch (type) {
      case "task-start":
        return this.#start(value as unknown as TaskStart);
      case "message-added":
        return checkAddresses([(value as unknown as MessageAdded).message]);
      case "memory-compacted":
        return checkAddresses((value as unknown as MemoryCompacted).messages);
      case "model-answer":
        return this.#answer(value as unknown as ModelAnswered);
      case "step-intent":
        this.#begun.add(value["step"] as string);
        return undefined;
      case "step-outcome":
        return this.#end(value);
      default:
        return undefined;
    }
  }

  #start({ messages, earlier }: TaskStart): string | undefined {
    if (this.#hasStart) return "a second task-start";
    if (earlier > messages.length) return `task-start has ${messages.length} messages, and ${earlier} before the run`;
    const problem = checkAddresses(messages);
    this.#hasStart = problem === undefined;
    return problem;
  }

  #answer(answer: ModelAnswered): string | undefined {
    const { step, content } = answer;
    if (step !== this.#answers + 1) return `model-answer ${step} behind model-answer ${this.#answers}`;
    this.#answers = step;
    const calls = content.filter((item) => item.type === "tool-call" && item.providerExecuted !== true);
    this.#open = new Set(isCut(answer) ? [] : calls.map((_call, index) => `${step}.${index}`));
    for (const name of this.#open) this.#asked.add(name);
    return undefined;
  }

  #end(value: RunEvent): string | undefined {
    const name = value["step"] as string;
    // What somebody else did in this run is not looked into.
    if (!this.#hasStart || !callName.test(name)) return undefined;
    if (!this.#asked.has(name)) return `step-outcome of the call ${name}, which no model-answer asks for`;
    if (!this.#begun.has(name)) return `step-outcome of the call ${name}, which has no step-intent`;
    const [problem] = checkStrictly(callOutcome, value);
    if (problem !== undefined) return `step-outcome: ${describeProblem(problem)}`;
    this.#open.delete(name);
    return undefined;
  }
}

/** Addresses of pictures are texts here, and must be addresses again. */
function checkAddresses(messages: readonly ModelMessage[]): string | undefined {
  for (const { role, content } of messages) {
    const files = role === "system" ? [] : content.flatMap((part) => (part.type === "file" ? [part.data] : []));
    const wrong = files.find((data) => data.type === "url" && !URL.canParse(String(data.url)));
    if (wrong !== undefined) return "a picture whose address is none";
  }
  return undefined;
}
