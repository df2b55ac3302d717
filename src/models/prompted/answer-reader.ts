import type { FinishReason, ModelAnswer, ModelContent, ModelPart } from "../model.ts";
import type { CheckedDraft } from "./check-call.ts";
import { createScanner, type Piece, type Scanner, type ScannerOptions } from "./scanner.ts";
import { toToolIndex, type CallableTool, type ToolIndex } from "./tool-index.ts";

type ToolCall = Extract<ModelContent, { type: "tool-call" }>;

/** What is needed to read the answers to one question. */
export interface Reading {
  /** None if no calls are wanted: what looks like one is left out then. */
  readonly tools: readonly CallableTool[];
  readonly createId: () => string;
  readonly options: ScannerOptions;
}

/** Reads the texts of one answer as they come, and emits the parts of a stream, each block opened and closed. */
export class AnswerReader {
  readonly #reading: Reading;
  readonly #index: ToolIndex;
  readonly #emit: (part: ModelPart) => void;
  #scanner: Scanner | undefined;
  /** The block that is open. */
  #open: { readonly type: "text" | "reasoning"; readonly id: string } | undefined;
  #blocks = 0;
  /** The id of a call whose arguments are emitted as they are written, and what takes the arguments from the text. */
  #started: { readonly id: string; readonly take: (chunk: string) => string } | undefined;
  #hasCalls = false;
  /** What could not be read and had no name: it is in the text. */
  readonly #problems: string[] = [];

  constructor(reading: Reading, emit: (part: ModelPart) => void) {
    this.#reading = reading;
    this.#index = toToolIndex(reading.tools);
    this.#emit = emit;
  }

  /** Reads what comes next of a text. */
  push(text: string, startsThinking: boolean = this.#reading.options.startsThinking ?? false): void {
    this.#scanner ??= createScanner(this.#index, { ...this.#reading.options, startsThinking });
    this.#addArguments(text);
    for (const piece of this.#scanner.push(text)) this.#write(piece);
    const held = this.#started === undefined ? this.#scanner.held() : undefined;
    if (held === undefined || held.isShown) return;
    const begun = findArguments(held.text, this.#index);
    if (begun === undefined) return;
    this.#closeBlock();
    this.#started = { id: this.#reading.createId(), take: createArgumentEnd() };
    this.#emit({ type: "tool-input-start", id: this.#started.id, toolName: begun.name });
    this.#addArguments(begun.first);
  }

  /** The text is over. `isCut`: before the model had said all. */
  end(isCut: boolean): void {
    for (const piece of this.#scanner?.end({ isCut }) ?? []) this.#write(piece);
    this.#scanner = undefined;
    this.#closeBlock();
  }

  /** The end of an answer, as what was found in it changes it. One that failed stays so: its calls must not be made. */
  finish<End extends Pick<ModelAnswer, "finishReason" | "providerMetadata">>(end: End): End {
    const { finishReason: reason } = end;
    const isOrderly = reason.unified === "stop" || reason.unified === "length" || reason.unified === "other";
    return {
      ...end,
      ...(this.#hasCalls && isOrderly && { finishReason: { ...reason, unified: "tool-calls" } }),
      ...(this.#problems.length > 0 && {
        providerMetadata: { ...end.providerMetadata, kitbag: { problems: this.#problems } },
      }),
    };
  }

  #addArguments(chunk: string): void {
    const delta = this.#started?.take(chunk) ?? "";
    if (this.#started !== undefined && delta !== "")
      this.#emit({ type: "tool-input-delta", id: this.#started.id, delta });
  }

  #write(piece: Piece): void {
    if (piece.type === "text" || piece.type === "reasoning") return this.#addText(piece.type, piece.text);
    const started = this.#started?.id;
    this.#started = undefined;
    const areCallsWanted = this.#reading.tools.length > 0;
    const call = areCallsWanted ? toToolCall(piece, started ?? this.#reading.createId()) : undefined;
    if (call !== undefined) return this.#addCall(call, started !== undefined);
    if (piece.type === "call") return;
    // What was shown as it was written came to nothing.
    if (started !== undefined) this.#emit({ type: "tool-input-end", id: started });
    if (areCallsWanted) this.#problems.push(piece.problem.message);
    this.#addText("text", piece.raw);
  }

  #addCall(call: ToolCall, isStarted: boolean): void {
    const { toolCallId: id, toolName, input } = call;
    this.#closeBlock();
    if (!isStarted) {
      this.#emit({ type: "tool-input-start", id, toolName });
      this.#emit({ type: "tool-input-delta", id, delta: input });
    }
    this.#emit({ type: "tool-input-end", id });
    this.#emit(call);
    this.#hasCalls = true;
  }

  #addText(type: "text" | "reasoning", delta: string): void {
    if (this.#open?.type !== type) {
      this.#closeBlock();
      this.#open = { type, id: `${type}-${this.#blocks}` };
      this.#blocks += 1;
      this.#emit({ type: `${type}-start`, id: this.#open.id });
    }
    this.#emit({ type: `${type}-delta`, id: this.#open.id, delta });
  }

  #closeBlock(): void {
    if (this.#open !== undefined) this.#emit({ type: `${this.#open.type}-end`, id: this.#open.id });
    this.#open = undefined;
  }
}

/** Whether an answer ended before the model had said all. */
export function isCutOff({ unified }: FinishReason): boolean {
  return unified !== "stop" && unified !== "tool-calls" && unified !== "other";
}

/** Makes the call that the loop sees of a call or a problem; `undefined` for a problem that has not even a name. */
function toToolCall(piece: CheckedDraft, toolCallId: string): ToolCall | undefined {
  if (piece.type === "call") {
    const { name, input, repairs } = piece.call;
    const told = repairs.length === 0 ? {} : { providerMetadata: { kitbag: { repairs: [...repairs] } } };
    return { type: "tool-call", toolCallId, toolName: name, input: JSON.stringify(input), ...told };
  }
  const { name, input, message: problem, reason } = piece.problem;
  if (name === undefined) return undefined;
  const kitbag = reason === undefined ? { problem } : { problem, unreadable: reason };
  return { type: "tool-call", toolCallId, toolName: name, input, providerMetadata: { kitbag } };
}

const beginning = /^<tool_call>\s*\{\s*"name"\s*:\s*"([^"\\\n]{1,160})"\s*,\s*"arguments"\s*:\s*(?=\{)/u;

/** The tool of a call whose arguments have begun, and what there is of them; `undefined` if it is too early, or another style. */
function findArguments(text: string, index: ToolIndex): { readonly name: string; readonly first: string } | undefined {
  const match = text.length > 4096 ? null : beginning.exec(text);
  const tool = match === null ? undefined : index.find(String(match[1]));
  return match === null || tool === undefined ? undefined : { name: tool.name, first: text.slice(match[0].length) };
}

/** Makes a function that takes an object of JSON as it is written, and answers with what of each chunk belongs to the object. */
function createArgumentEnd(): (chunk: string) => string {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isOver = false;
  return (chunk) => {
    if (isOver) return "";
    for (let place = 0; place < chunk.length; place++) {
      const character = chunk.charAt(place);
      if (isEscaped) isEscaped = false;
      else if (isText && character === "\\") isEscaped = true;
      else if (character === '"') isText = !isText;
      else if (isText) continue;
      else if ("{[".includes(character)) depth += 1;
      else if ("}]".includes(character)) depth -= 1;
      isOver = depth === 0;
      if (isOver) return chunk.slice(0, place + 1);
    }
    return chunk;
  };
}
