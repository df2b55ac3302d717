import type {
  FinishReason,
  Model,
  ModelAnswer,
  ModelCall,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelUsage,
} from "../../src/models/model.ts";

/** What came out of a stream. */
export interface Collected {
  readonly parts: readonly ModelPart[];
  readonly text: string;
  readonly reasoning: string;
  readonly content: readonly ModelContent[];
  readonly finish: FinishReason | undefined;
  readonly usage: ModelUsage | undefined;
  readonly errors: readonly unknown[];
  readonly warnings: ModelAnswer["warnings"];
}

/** Asks a model both ways, and answers with what both have in common. */
export const ways = {
  async generate(model: Model, call: ModelCall): Promise<Collected> {
    const answer = await model.doGenerate(call);
    const { content, finishReason: finish, usage, warnings } = answer;
    return { parts: [], ...toTexts(content), content, finish, usage, errors: [], warnings };
  },
  async stream(model: Model, call: ModelCall): Promise<Collected> {
    const { stream } = await model.doStream(call);
    return collect(stream);
  },
} as const;

/** The name of a way to ask. */
export const wayNames = ["generate", "stream"] as const satisfies readonly (keyof typeof ways)[];

/** Reads a stream to its end. The pieces of a part become one, with the last metadata that any of them had. */
export async function collect(stream: ReadableStream<ModelPart>): Promise<Collected> {
  const parts: ModelPart[] = [];
  const open = new Map<string, Piece>();
  const content: ModelContent[] = [];
  for await (const part of stream as ReadableStream<ModelPart> & AsyncIterable<ModelPart>) {
    parts.push(part);
    if (part.type === "tool-call") content.push(part);
    const match = /^(text|reasoning)-(start|delta|end)$/u.exec(part.type);
    if (match === null) continue;
    const piece = part as { id: string; delta?: string; providerMetadata?: Piece["providerMetadata"] };
    const key = `${match[1]} ${piece.id}`;
    if (match[2] === "start") {
      const added: Piece = { type: match[1] as Piece["type"], text: "" };
      open.set(key, added);
      content.push(added);
    }
    const target = open.get(key);
    if (target === undefined) throw new Error(`${part.type} of a part that was not begun`);
    target.text += piece.delta ?? "";
    if (piece.providerMetadata !== undefined) {
      target.providerMetadata = { ...target.providerMetadata, ...piece.providerMetadata };
    }
  }
  const end = parts.find((part) => part.type === "finish");
  const errors = parts.filter((part) => part.type === "error").map(({ error }) => error);
  const warnings = parts.flatMap((part) => (part.type === "stream-start" ? part.warnings : []));
  return { parts, ...toTexts(content), content, finish: end?.finishReason, usage: end?.usage, errors, warnings };
}

interface Piece {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: Record<string, Record<string, never>>;
}

function toTexts(content: readonly ModelContent[]): { text: string; reasoning: string } {
  const join = (type: "text" | "reasoning"): string =>
    content.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
  return { text: join("text"), reasoning: join("reasoning") };
}

/** Makes the message of the assistant out of what it answered: metadata goes back as options, part by part. */
export function toAssistantMessage(content: readonly ModelContent[]): ModelMessage {
  return { role: "assistant", content: content.flatMap(toPromptParts) };
}

type AssistantPart = Extract<ModelMessage, { role: "assistant" }>["content"][number];

function toPromptParts(part: ModelContent): AssistantPart[] {
  if (part.type !== "text" && part.type !== "reasoning" && part.type !== "tool-call") return [];
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (part.type !== "tool-call") return [{ type: part.type, text: part.text, ...options }];
  const { toolCallId, toolName, input } = part;
  return [{ type: "tool-call", toolCallId, toolName, input: JSON.parse(input || "{}"), ...options }];
}

/** Makes the message with the results of all calls in `content`. */
export function toToolMessage(content: readonly ModelContent[], answer: (input: unknown) => string): ModelMessage {
  const calls = content.filter((part) => part.type === "tool-call");
  return {
    role: "tool",
    content: calls.map(({ toolCallId, toolName, input }) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: "text", value: answer(JSON.parse(input || "{}")) },
    })),
  };
}

/** What a user says. */
export function say(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}
