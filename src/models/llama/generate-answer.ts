import { KitbagError } from "../../core/errors.ts";
import type { ModelAnswer, ModelCall, ModelPart } from "../model.ts";
import type { ChatFunctions, ChatItem, ChatOptions, ChatResponse, ChatWrapper, LlamaPackage } from "./llama-package.ts";
import type { LoadedLlama } from "./load-llama-file.ts";
import { toChatHistory } from "./to-chat-history.ts";
import { OpenTexts, toCallParts, type WholeCall } from "../shims/open-texts.ts";
import { toGrammarSchema, withoutGaps } from "./to-grammar-schema.ts";

/** Where the parts of an answer go. */
export interface Generation {
  /** What the model is called in messages. */
  readonly name: string;
  readonly onPart: (part: ModelPart) => void;
  readonly signal: AbortSignal;
}

/** Of the context, for what the library adds around an answer. */
const spareTokens = 16;

/**
 * Answers one question, part by part.
 *
 * @throws {KitbagError} (rejects) `model-context-exceeded` if the prompt does not fit: the library would leave some of it out
 */
export async function generateAnswer(
  library: LlamaPackage,
  loaded: LoadedLlama,
  call: ModelCall,
  { onPart, signal, name }: Generation,
): Promise<void> {
  const { sequence, contextSize } = loaded;
  const warnings: ModelAnswer["warnings"] = [];
  const history = toChatHistory(call.prompt, warnings);
  const functions = toFunctions(call, warnings);
  const promptTokens = countPrompt(loaded, history, functions);
  const room = contextSize - promptTokens - spareTokens;
  if (room <= 0) throw tooLong(promptTokens, contextSize, name);
  onPart({ type: "stream-start", warnings });

  const isForced =
    functions !== undefined && (call.toolChoice?.type === "required" || call.toolChoice?.type === "tool");
  const chatWrapper = isForced ? forceCall(library, loaded.wrapper) : loaded.wrapper;
  const chat = new library.LlamaChat({ contextSequence: sequence, chatWrapper });
  const texts = new OpenTexts();
  const tell = (parts: Iterable<ModelPart>): void => {
    for (const part of parts) onPart(part);
  };
  const before = sequence.tokenMeter.getState();
  try {
    const grammar = functions === undefined ? await toGrammar(call, loaded) : undefined;
    const response = await chat.generateResponse(history, {
      ...toSettings(call, room),
      signal,
      ...(functions && { functions, documentFunctionParams: true }),
      ...(grammar && { grammar }),
      // An answer to a schema is shown when it is whole: what the grammar adds is taken out first.
      ...(grammar === undefined && { onResponseChunk: (chunk) => tell(addChunk(texts, chunk)) }),
    });
    if (grammar !== undefined) tell(texts.add("text", toJsonText(response.response, call)));
    tell(texts.end());
    for (const made of toCalls(response, call)) tell(toCallParts(made));
    const after = sequence.tokenMeter.getState();
    const read = Math.min(promptTokens, after.usedInputTokens - before.usedInputTokens);
    const output = after.usedOutputTokens - before.usedOutputTokens;
    onPart({
      type: "finish",
      finishReason: toReason(response),
      usage: {
        inputTokens: { total: promptTokens, noCache: read, cacheRead: promptTokens - read, cacheWrite: undefined },
        outputTokens: { total: output, text: undefined, reasoning: undefined },
      },
    });
  } finally {
    chat.dispose({ disposeSequence: false });
  }
}

function addChunk(
  texts: OpenTexts,
  { segmentType, text }: { readonly segmentType?: string | undefined; readonly text: string },
): Iterable<ModelPart> {
  return texts.add(segmentType === undefined ? "text" : "reasoning", text);
}

function tooLong(promptTokens: number, contextSize: number, model: string): KitbagError {
  const reason = `it has ${promptTokens.toLocaleString("en-US")} tokens, and the context ${contextSize.toLocaleString("en-US")}`;
  return new KitbagError("model-context-exceeded", { model, reason });
}

function toFunctions(
  { tools = [], toolChoice }: ModelCall,
  warnings: ModelAnswer["warnings"],
): ChatFunctions | undefined {
  if (toolChoice?.type === "none") return undefined;
  const functions: Record<string, ChatFunctions[string]> = {};
  for (const tool of tools) {
    if (tool.type === "provider") warnings.push({ type: "unsupported", feature: `the tool ${tool.id} of a provider` });
    else if (toolChoice?.type !== "tool" || toolChoice.toolName === tool.name) {
      const { description = "", inputSchema } = tool;
      functions[tool.name] = { description, params: toGrammarSchema(inputSchema) };
    }
  }
  return Object.keys(functions).length === 0 ? undefined : functions;
}

/** Counts the prompt as the library writes it for this model. */
function countPrompt(
  { wrapper, file }: LoadedLlama,
  chatHistory: readonly ChatItem[],
  functions: ChatFunctions | undefined,
): number {
  const options = { chatHistory, ...(functions && { availableFunctions: functions, documentFunctionParams: true }) };
  return wrapper.generateContextState(options).contextText.tokenize(file.tokenizer).length;
}

/** The same wrapper, which begins every answer with a call, in the words of this model. */
function forceCall({ LlamaText }: LlamaPackage, wrapper: ChatWrapper): ChatWrapper {
  const generateContextState: ChatWrapper["generateContextState"] = (options) => {
    const { contextText, stopGenerationTriggers } = wrapper.generateContextState(options);
    return { contextText, stopGenerationTriggers, noPrefixTrigger: { type: "functionCall", inject: LlamaText("") } };
  };
  return Object.assign(Object.create(wrapper) as ChatWrapper, { generateContextState });
}

async function toGrammar({ responseFormat }: ModelCall, { llama }: LoadedLlama): Promise<object | undefined> {
  if (responseFormat?.type !== "json") return undefined;
  const { schema } = responseFormat;
  return schema === undefined ? llama.getGrammarFor("json") : llama.createGrammarForJsonSchema(toGrammarSchema(schema));
}

function toJsonText(text: string, { responseFormat }: ModelCall): string {
  if (responseFormat?.type !== "json" || responseFormat.schema === undefined) return text;
  try {
    return JSON.stringify(withoutGaps(JSON.parse(text), responseFormat.schema));
  } catch {
    // It was cut by the limit of its length: the reader of the answer says so.
    return text;
  }
}

function toSettings(
  { maxOutputTokens = Infinity, temperature, topP, topK, seed, stopSequences }: ModelCall,
  room: number,
): ChatOptions {
  return {
    maxTokens: Math.min(maxOutputTokens, room),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(seed !== undefined && { seed }),
    ...(stopSequences !== undefined && { customStopTriggers: stopSequences }),
  };
}

function toCalls({ functionCalls = [] }: ChatResponse, { tools = [] }: ModelCall): readonly WholeCall[] {
  return functionCalls.map(({ functionName: name, params = {} }) => {
    const tool = tools.find((each) => each.type === "function" && each.name === name);
    const schema = tool?.type === "function" ? tool.inputSchema : undefined;
    return { id: `call_${crypto.randomUUID()}`, name, input: JSON.stringify(withoutGaps(params, schema)) };
  });
}

function toReason({ metadata: { stopReason } }: ChatResponse): ModelAnswer["finishReason"] {
  if (stopReason === "maxTokens") return { unified: "length", raw: stopReason };
  return { unified: stopReason === "functionCalls" ? "tool-calls" : "stop", raw: stopReason };
}
