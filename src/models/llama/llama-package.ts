/**
 * What is used of `node-llama-cpp` (3.22). Its own types are not imported: with its programs for every platform it is too large to be
 * installed for the development of Kitbag.
 */

/** A text of the conversation, as the package keeps it. */
export type ChatItem =
  | { readonly type: "system"; readonly text: string }
  | { readonly type: "user"; readonly text: string }
  | { readonly type: "model"; readonly response: ChatPart[] };

/** What a model has said: text, thoughts, and calls with their results. */
export type ChatPart =
  | string
  | { readonly type: "segment"; readonly segmentType: "thought"; readonly text: string; readonly ended: true }
  | {
      readonly type: "functionCall";
      readonly name: string;
      readonly params: unknown;
      result: unknown;
      readonly startsNewChunk?: boolean;
    };

/** The functions that a model may call, by name. */
export type ChatFunctions = Readonly<Record<string, { readonly description?: string; readonly params?: object }>>;

/** How a conversation becomes the text that the model reads. */
export interface ChatWrapper {
  generateContextState(options: {
    readonly chatHistory: readonly ChatItem[];
    readonly availableFunctions?: ChatFunctions;
    readonly documentFunctionParams?: boolean;
  }): ContextState;
}

/** The text that the model reads, and where it stops. */
export interface ContextState {
  readonly contextText: { tokenize(tokenizer: unknown): readonly unknown[] };
  readonly stopGenerationTriggers: unknown;
  /** What the model begins with. */
  readonly noPrefixTrigger?: { readonly type: "functionCall"; readonly inject: unknown };
}

/** A context: the memory for one conversation at a time. */
export interface LlamaSequence {
  readonly tokenMeter: { getState(): { readonly usedInputTokens: number; readonly usedOutputTokens: number } };
}

/** A model file in memory. */
export interface LlamaFile {
  readonly llama: Llama;
  readonly size: number;
  readonly trainContextSize: number;
  readonly tokenizer: unknown;
  createContext(options: {
    readonly contextSize?: number | { readonly max?: number };
    readonly threads?: number;
  }): Promise<{ readonly contextSize: number; getSequence(): LlamaSequence }>;
  dispose(): Promise<void>;
}

/** The library, loaded for a graphics card or the processor. */
export interface Llama {
  loadModel(options: {
    readonly modelPath: string;
    readonly gpuLayers?: "auto" | "max" | number;
    readonly onLoadProgress?: (share: number) => void;
  }): Promise<LlamaFile>;
  createGrammarForJsonSchema(schema: object): Promise<object>;
  getGrammarFor(type: "json"): Promise<object>;
}

/** One answer. */
export interface ChatResponse {
  readonly response: string;
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
  readonly metadata: { readonly stopReason: string };
}

/** How an answer is asked for. */
export interface ChatOptions {
  readonly functions?: ChatFunctions;
  readonly documentFunctionParams?: boolean;
  readonly grammar?: object;
  readonly signal?: AbortSignal;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly customStopTriggers?: readonly string[];
  readonly onResponseChunk?: (chunk: { readonly segmentType?: string | undefined; readonly text: string }) => void;
}

/** The package. */
export interface LlamaPackage {
  getLlama(options: {
    readonly gpu: "auto" | false;
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly logLevel: "error";
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
  resolveChatWrapper(model: LlamaFile): ChatWrapper;
  LlamaText(text: string): unknown;
  LlamaChat: new (options: { readonly contextSequence: LlamaSequence; readonly chatWrapper: ChatWrapper }) => {
    generateResponse(history: readonly ChatItem[], options: ChatOptions): Promise<ChatResponse>;
    dispose(options?: { readonly disposeSequence?: boolean }): void;
  };
}
