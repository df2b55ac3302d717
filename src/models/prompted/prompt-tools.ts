import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { renderSchema } from "../../core/schema/render-schema.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { FinishReason, Model, ModelAnswer, ModelCall, ModelContent, ModelPart, ModelTool } from "../model.ts";
import { asModel } from "../shims/as-model.ts";
import { type AnswerWriter, createAnswerWriter, toToolCall } from "./answer-writer.ts";
import { parsePieces } from "./parse-tool-calls.ts";
import { renderPrompt } from "./render-prompt.ts";
import { createScanner, type Piece, type Scanner, type ScannerOptions } from "./scanner.ts";
import { createRepeatCheck } from "./shown-text.ts";
import { type CallableTool, type ToolIndex, toToolIndex } from "./tool-index.ts";

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

/** Follows the arguments of one call as they are written. */
interface ArgumentStream {
  readonly name: string;
  /** Takes what was written since, and answers what of it belongs to the arguments. */
  push(chunk: string): string;
}

const beginning = /^<tool_call>\s*\{\s*"name"\s*:\s*"([^"\\\n]{1,160})"\s*,\s*"arguments"\s*:\s*(?=\{)/u;

/** Begins to follow a call whose tool is known and whose arguments have begun; `undefined` if it is too early, or another style. */
function followArguments(text: string, index: ToolIndex): { stream: ArgumentStream; first: string } | undefined {
  if (text.length > 4096) return undefined;
  const match = beginning.exec(text);
  const tool = match === null ? undefined : index.find(String(match[1]));
  if (match === null || tool === undefined) return undefined;
  const stream = createArgumentStream(tool.name);
  return { stream, first: stream.push(text.slice(match[0].length)) };
}

function createArgumentStream(name: string): ArgumentStream {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isOver = false;

  /** Tells whether the arguments end with this character. */
  function isLast(code: number): boolean {
    if (isEscaped) isEscaped = false;
    else if (isText && code === 0x5c) isEscaped = true;
    else if (code === 0x22) isText = !isText;
    else if (isText) return false;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    return depth === 0;
  }

  return {
    name,
    push(chunk) {
      if (isOver) return "";
      for (let index = 0; index < chunk.length; index++) {
        if (!isLast(chunk.charCodeAt(index))) continue;
        isOver = true;
        return chunk.slice(0, index + 1);
      }
      return chunk;
    },
  };
}

/** The tools of a call, made ready for a model that has none. */
interface RenderedTools {
  readonly tools: readonly ModelTool[];
  readonly text: string;
  /** The tools that only their provider can offer. */
  readonly unsupported: readonly string[];
}

const rendered = new WeakMap<object, RenderedTools>();

const none: RenderedTools = { tools: [], text: "", unsupported: [] };

/** Writes tools for the system text, once for each list of tools. */
function renderTools(list: ModelCall["tools"]): RenderedTools {
  if (list === undefined || list.length === 0) return none;
  let found = rendered.get(list);
  if (found === undefined) {
    const tools = list.filter((tool) => tool.type === "function");
    const unsupported = list.filter((tool) => tool.type === "provider").map((tool) => tool.id);
    found = { tools, text: tools.length === 0 ? "" : renderAll(tools), unsupported };
    rendered.set(list, found);
  }
  return found;
}

/** One format, and the one that the most open models were trained on. Fewer words are followed better by small ones. */
const howTo = `To call a tool, write:
<tool_call>
{"name": "the tool's name", "arguments": {"key": "value"}}
</tool_call>
Arguments are one JSON object that fits the tool. Write one <tool_call> for each call, then stop: the results come in <tool_response>. Call a tool only if you need it; otherwise just answer.`;

function renderAll(tools: readonly ModelTool[]): string {
  return `You have these tools:\n\n${tools.map(renderTool).join("\n\n")}\n\n${howTo}`;
}

function renderTool({ name, description, inputSchema, inputExamples }: ModelTool): string {
  const lines = [`${name}${description === undefined || description === "" ? "" : `: ${description}`}`];
  lines.push(`arguments: ${renderSchema(inputSchema as JsonSchema)}`);
  const [example] = inputExamples ?? [];
  if (example !== undefined) lines.push(`such as: ${JSON.stringify(example.input)}`);
  return lines.join("\n");
}

/** What is added when a model must call a tool, or must not. */
function renderChoice(choice: ModelCall["toolChoice"]): string {
  if (choice?.type === "required") return "\nNow you must call a tool.";
  return choice?.type === "tool" ? `\nNow you must call the tool ${choice.toolName}.` : "";
}
