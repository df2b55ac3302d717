import { checkOptionNames } from "../check-option-names.ts";
import { asModel } from "../shims/as-model.ts";
import type { FinishReason, Model, ModelAnswer, ModelCall, ModelContent, ModelPart } from "../model.ts";
import { createAnswerWriter, toToolCall, type AnswerWriter } from "./answer-writer.ts";
import { parsePieces } from "./parse-tool-calls.ts";
import { renderPrompt } from "./render-prompt.ts";
import { renderChoice, renderTools } from "./render-tools.ts";
import { createScanner, type Piece, type Scanner, type ScannerOptions } from "./scanner.ts";
import { createRepeatCheck } from "./shown-text.ts";
import { followArguments, type ArgumentStream } from "./stream-arguments.ts";
import { toToolIndex, type CallableTool } from "./tool-index.ts";

/** How {@link promptTools} asks and reads. */
export interface PromptToolsOptions {
  /**
   * The model's answers begin inside a think block, whose opening tag is part of its prompt. While an answer is streamed this must
   * be known before it ends.
   *
   * @default found out for whole answers, `false` for streamed ones
   */
  readonly startsThinking?: boolean;
  /** Makes the id of a call. */
  readonly createId?: () => string;
}

/**
 * Makes a model without tools into one that has them: the tools are written into the system text, and calls are read out of the
 * answer, also while it is streamed.
 *
 * Contract: whatever the model writes, the calls are of the tools it was given, as {@link parseToolCalls} finds them;
 * `providerMetadata.kitbag.repairs` says what was repaired. What was meant as a call and cannot be made comes out as a call with
 * its input as it was written, so that checking the input fails and the model is told; `providerMetadata.kitbag.problem` says what
 * is wrong. If not even a name could be read it is text, and `providerMetadata.kitbag.problems` of the end says so. Think blocks
 * are reasoning.
 *
 * @throws {KitbagError} `option-invalid`, `model-unsupported`
 *
 * @example
 * ```ts
 * import { promptTools, type Model } from "kitbag/models";
 *
 * const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
 * const plain: Model = {
 *   specificationVersion: "v4",
 *   provider: "example",
 *   modelId: "plain",
 *   supportedUrls: {},
 *   doGenerate: async () => ({
 *     content: [{ type: "text", text: 'One moment. <tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>' }],
 *     finishReason: { unified: "stop", raw: "stop" },
 *     usage,
 *     warnings: [],
 *   }),
 *   doStream: () => Promise.reject(new Error("not in this example")),
 * };
 * const number = { type: "number" as const };
 * const add = { type: "function" as const, name: "add", inputSchema: { type: "object" as const, properties: { a: number, b: number } } };
 *
 * const answer = await promptTools(plain).doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "1 + 2?" }] }], tools: [add] });
 *
 * const [text, call] = answer.content;
 * console.assert(text?.type === "text" && text.text === "One moment.");
 * console.assert(call?.type === "tool-call" && call.toolName === "add" && call.input === '{"a":1,"b":2}');
 * console.assert(answer.finishReason.unified === "tool-calls");
 * ```
 */
export function promptTools(given: Model, options: PromptToolsOptions = {}): Model {
  const model = asModel(given);
  checkOptionNames(options, ["startsThinking", "createId"]);
  const createId = options.createId ?? (() => `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`);
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(call) {
      const { inner, tools, repeats, warnings } = prepare(call);
      const answer = await model.doGenerate(inner);
      const reading = { tools, createId, options: { ...options, repeats } };
      return { ...readAnswer(answer, reading), warnings: [...answer.warnings, ...warnings] };
    },
    async doStream(call) {
      const { inner, tools, repeats, warnings } = prepare(call);
      const answer = await model.doStream(inner);
      const reading = { tools, createId, options: { ...options, repeats } };
      return { ...answer, stream: answer.stream.pipeThrough(createStreamReader(reading, warnings)) };
    },
  };
}

interface Reading {
  readonly tools: readonly CallableTool[];
  readonly createId: () => string;
  readonly options: ScannerOptions;
}

const noTools: readonly CallableTool[] = [];

/** What the model without tools is asked. */
function prepare(call: ModelCall): {
  inner: ModelCall;
  tools: readonly CallableTool[];
  repeats: NonNullable<ScannerOptions["repeats"]>;
  warnings: ModelAnswer["warnings"];
} {
  const { tools: list, toolChoice, prompt, ...rest } = call;
  const { tools, text, unsupported } = renderTools(list);
  const isAllowed = toolChoice?.type !== "none" && tools.length > 0;
  const instructions = isAllowed ? `${text}${renderChoice(toolChoice)}` : "";
  return {
    inner: { ...rest, prompt: renderPrompt(prompt, instructions) },
    tools: isAllowed ? tools : noTools,
    repeats: createRepeatCheck(prompt),
    warnings: unsupported.map((id) => ({ type: "unsupported", feature: `the tool ${id} of a provider` })),
  };
}

function readAnswer(answer: ModelAnswer, { tools, createId, options }: Reading): ModelAnswer {
  const content: ModelContent[] = [];
  const problems: string[] = [];
  let text: string | undefined;

  function readText(isCut: boolean): void {
    if (text === undefined) return;
    for (const piece of parsePieces(text, tools, { ...options, isCut })) addPiece(piece);
    text = undefined;
  }
  function addPiece(piece: Piece): void {
    if (piece.type === "call" || piece.type === "problem") {
      const call = tools.length === 0 ? undefined : toToolCall(piece, createId());
      if (call !== undefined) content.push(call);
      else if (piece.type === "problem") {
        problems.push(piece.problem.message);
        addText("text", piece.raw);
      }
    } else addText(piece.type, piece.text);
  }
  function addText(type: "text" | "reasoning", added: string): void {
    const last = content.at(-1);
    if (last?.type === type && "text" in last) content[content.length - 1] = { ...last, text: last.text + added };
    else content.push({ type, text: added });
  }

  for (const part of answer.content) {
    if (part.type === "text") text = (text ?? "") + part.text;
    else {
      readText(false);
      content.push(part);
    }
  }
  readText(isCutOff(answer.finishReason));
  const hasCalls = content.some((part) => part.type === "tool-call");
  return {
    ...answer,
    content,
    finishReason: toFinishReason(answer.finishReason, hasCalls),
    ...(problems.length > 0 &&
      tools.length > 0 && { providerMetadata: { ...answer.providerMetadata, kitbag: { problems } } }),
  };
}

/** An answer that failed or was interrupted stays so: its calls must not be made. */
function toFinishReason(reason: FinishReason, hasCalls: boolean): FinishReason {
  const isOrderly = reason.unified === "stop" || reason.unified === "length" || reason.unified === "other";
  return hasCalls && isOrderly ? { ...reason, unified: "tool-calls" } : reason;
}

/** Whether an answer ended before the model had said all. */
function isCutOff({ unified }: FinishReason): boolean {
  return unified !== "stop" && unified !== "tool-calls" && unified !== "other";
}

/** Parts that come between two parts of one text and say nothing about it. */
const asides = new Set(["text-start", "text-end", "ping", "raw", "response-metadata", "stream-start", "error"]);

function createStreamReader(
  reading: Reading,
  warnings: ModelAnswer["warnings"],
): TransformStream<ModelPart, ModelPart> {
  let writer: AnswerWriter | undefined;
  let text: ReturnType<typeof createTextReader> | undefined;
  return new TransformStream<ModelPart, ModelPart>({
    transform(part, controller) {
      writer ??= createAnswerWriter((out) => controller.enqueue(out), reading.createId, reading.tools.length > 0);
      if (part.type === "text-delta") {
        text ??= createTextReader(reading, writer);
        text.push(part.delta);
        return;
      }
      if (!asides.has(part.type)) {
        text?.end({ isCut: part.type === "finish" && isCutOff(part.finishReason) });
        text = undefined;
      }
      if (part.type === "text-start" || part.type === "text-end") return;
      if (part.type === "stream-start") controller.enqueue({ ...part, warnings: [...part.warnings, ...warnings] });
      else controller.enqueue(part.type === "finish" ? toFinish(part, writer, reading) : part);
    },
    flush() {
      text?.end({ isCut: true });
    },
  });
}

function toFinish(part: Extract<ModelPart, { type: "finish" }>, writer: AnswerWriter, { tools }: Reading): ModelPart {
  const { problems } = writer;
  const told = problems.length > 0 &&
    tools.length > 0 && { providerMetadata: { ...part.providerMetadata, kitbag: { problems } } };
  return { ...part, finishReason: toFinishReason(part.finishReason, writer.hasCalls()), ...told };
}

/** Reads one text as it comes. */
function createTextReader(
  { tools, options }: Reading,
  writer: AnswerWriter,
): { push(delta: string): void; end: (options: { readonly isCut: boolean }) => void } {
  const index = toToolIndex(tools);
  const scanner: Scanner = createScanner(index, options);
  let following: ArgumentStream | undefined;

  function write(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      writer.write(piece);
      if (piece.type === "call" || piece.type === "problem") following = undefined;
    }
  }
  return {
    push(delta) {
      if (following !== undefined) writer.addArguments(following.push(delta));
      write(scanner.push(delta));
      const held = following === undefined ? scanner.held() : undefined;
      if (held === undefined || held.isShown) return;
      const found = followArguments(held.text, index);
      if (found === undefined) return;
      following = found.stream;
      writer.startCall(following.name);
      writer.addArguments(found.first);
    },
    end(options) {
      write(scanner.end(options));
      writer.close();
    },
  };
}
