import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { renderSchema } from "../../core/schema/render-schema.ts";
import { checkOptionNames } from "../check-option-names.ts";
import type { Model, ModelAnswer, ModelCall, ModelContent, ModelPart, ModelTool } from "../model.ts";
import { asModel } from "../shims/as-model.ts";
import { AnswerReader, isCutOff, type Reading } from "./answer-reader.ts";
import { endsUnopenedThinking } from "./parse-tool-calls.ts";
import { renderPrompt } from "./render-prompt.ts";
import { createRepeatCheck } from "./shown-text.ts";
import type { CallableTool } from "./tool-index.ts";

/** How {@link promptTools} asks and reads. */
export interface PromptToolsOptions {
  /**
   * The model's answers begin inside a think block, whose opening tag is part of its prompt. While an answer is streamed this must
   * be known before it ends.
   *
   * @default found out for whole answers, `false` for streamed ones
   */
  readonly startsThinking?: boolean;
  /**
   * Writes the tools, and how they are called, for the system text. What the model writes is read in any of the dialects of
   * {@link parseToolCalls}. @default each tool with its schema, and `<tool_call>` with JSON, which most open models were trained on
   */
  readonly template?: (tools: readonly ModelTool[]) => string;
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
  checkOptionNames(options, ["startsThinking", "template", "createId"]);
  const createId = options.createId ?? (() => `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`);
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(call) {
      const { inner, warnings, ...reading } = prepare(call, options, createId);
      const answer = await model.doGenerate(inner);
      return { ...readAnswer(answer, reading), warnings: [...answer.warnings, ...warnings] };
    },
    async doStream(call) {
      const { inner, warnings, ...reading } = prepare(call, options, createId);
      const answer = await model.doStream(inner);
      return { ...answer, stream: answer.stream.pipeThrough(createStreamReader(reading, warnings)) };
    },
  };
}

interface Prepared extends Reading {
  /** What the model without tools is asked. */
  readonly inner: ModelCall;
  readonly warnings: ModelAnswer["warnings"];
}

const noTools: readonly CallableTool[] = [];

function prepare(call: ModelCall, options: PromptToolsOptions, createId: () => string): Prepared {
  const { tools: list, toolChoice, prompt, ...rest } = call;
  const { tools, text: usual, unsupported } = renderTools(list);
  const text = options.template === undefined ? usual : options.template(tools);
  const isAllowed = toolChoice?.type !== "none" && tools.length > 0;
  const instructions = isAllowed ? `${text}${renderChoice(toolChoice)}` : "";
  return {
    inner: { ...rest, prompt: renderPrompt(prompt, instructions) },
    tools: isAllowed ? tools : noTools,
    createId,
    options: { ...options, repeats: createRepeatCheck(prompt) },
    warnings: unsupported.map((id) => ({ type: "unsupported", feature: `the tool ${id} of a provider` })),
  };
}

function readAnswer(answer: ModelAnswer, reading: Reading): ModelAnswer {
  const content: ModelContent[] = [];
  const reader = new AnswerReader(reading, (part) => {
    if (part.type === "tool-call") content.push(part);
    if (part.type !== "text-delta" && part.type !== "reasoning-delta") return;
    const type = part.type === "text-delta" ? "text" : "reasoning";
    const last = content.at(-1);
    if (last?.type === type) content[content.length - 1] = { ...last, text: last.text + part.delta };
    else content.push({ type, text: part.delta });
  });
  let text = "";
  const readText = (isCut: boolean): void => {
    reader.push(text, reading.options.startsThinking ?? endsUnopenedThinking(text));
    reader.end(isCut);
    text = "";
  };
  for (const part of answer.content) {
    if (part.type === "text") text += part.text;
    else {
      readText(false);
      content.push(part);
    }
  }
  readText(isCutOff(answer.finishReason));
  return reader.finish({ ...answer, content });
}

/** Parts that come between two parts of one text and say nothing about it. */
const asides = new Set(["text-start", "text-end", "ping", "raw", "response-metadata", "stream-start", "error"]);

function createStreamReader(
  reading: Reading,
  warnings: ModelAnswer["warnings"],
): TransformStream<ModelPart, ModelPart> {
  let reader: AnswerReader | undefined;
  return new TransformStream<ModelPart, ModelPart>({
    transform(part, controller) {
      reader ??= new AnswerReader(reading, (out) => controller.enqueue(out));
      if (part.type === "text-delta") return reader.push(part.delta);
      if (!asides.has(part.type)) reader.end(part.type === "finish" && isCutOff(part.finishReason));
      if (part.type === "text-start" || part.type === "text-end") return;
      if (part.type === "stream-start") controller.enqueue({ ...part, warnings: [...part.warnings, ...warnings] });
      else controller.enqueue(part.type === "finish" ? reader.finish(part) : part);
    },
    flush() {
      reader?.end(true);
    },
  });
}

/** The tools of a call, made ready for a model that has none. */
interface RenderedTools {
  readonly tools: readonly ModelTool[];
  readonly text: string;
  /** The tools that only their provider can offer. */
  readonly unsupported: readonly string[];
}

const rendered = new WeakMap<object, RenderedTools>();

/** Writes tools for the system text, once for each list of tools. */
function renderTools(list: NonNullable<ModelCall["tools"]> = []): RenderedTools {
  const known = rendered.get(list);
  if (known !== undefined) return known;
  const tools = list.filter((tool) => tool.type === "function");
  const unsupported = list.filter((tool) => tool.type === "provider").map((tool) => tool.id);
  const text = `You have these tools:\n\n${tools.map(renderTool).join("\n\n")}\n\n${howTo}`;
  const found = { tools, text, unsupported };
  rendered.set(list, found);
  return found;
}

/** One format, and the one that the most open models were trained on. Fewer words are followed better by small ones. */
const howTo = `To call a tool, write:
<tool_call>
{"name": "the tool's name", "arguments": {"key": "value"}}
</tool_call>
Arguments are one JSON object that fits the tool. Write one <tool_call> for each call, then stop: the results come in <tool_response>. Call a tool only if you need it; otherwise just answer.`;

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
