import { toPieces, usualUsage, type ScriptedAnswer } from "./model-server-answer.ts";
import {
  toList,
  toObject,
  toText,
  type Dialect,
  type ReceivedImage,
  type RequestContent,
  type Wire,
  type WireEvent,
} from "./model-server-wire.ts";

const base = "/google/v1beta";
const pathForm = /^\/google\/v1beta\/models\/([^:/]+):(generateContent|streamGenerateContent)$/u;

/** What Google's documentation says to send for a call that came from another model. */
const notOfOurs = "skip_thought_signature_validator";

/** Google, `generateContent` and `streamGenerateContent?alt=sse`. The signature is at the first call, or at the text's end. */
export const google: Dialect = {
  base,
  isPath: (path) => pathForm.test(path),
  getKey: (headers) => headers["x-goog-api-key"],
  readRequest,
  findProblem,
  toBody: (answer, content) => toChunk(toParts(answer), content, answer, true),
  toEvents: (answer, content) => {
    const parts = toParts(answer).flatMap(split);
    return parts.map((part, index) => ({
      data: JSON.stringify(toChunk([part], content, answer, index === parts.length - 1)),
    }));
  },
  toFailure: (): WireEvent => ({
    data: JSON.stringify({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
  }),
  toError: (status, message) => ({ error: { code: status, message, status: statusNames[status] ?? "INTERNAL" } }),
};

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  529: "UNAVAILABLE",
};

function readRequest(body: Wire, path: string): RequestContent {
  const [, model = "", method] = pathForm.exec(path) ?? [];
  const contents = toList(body["contents"]);
  const partsOf = (name: string): readonly Wire[] =>
    contents.filter(({ role }) => role === name).flatMap(({ parts }) => toList(parts));
  const ofUser = partsOf("user");
  const ofModel = partsOf("model");
  const responses = ofUser.map((part) => toObject(part["functionResponse"])).filter(({ name }) => name !== undefined);
  return {
    model,
    isStream: method === "streamGenerateContent",
    turn: contents.length,
    system: toList(toObject(body["systemInstruction"])["parts"])
      .map(({ text }) => toText(text))
      .join("\n"),
    texts: ofUser.filter(({ text }) => text !== undefined).map(({ text }) => toText(text)),
    images: [...ofUser, ...responses.flatMap(({ parts }) => toList(parts))].flatMap(toImages),
    tools: toList(body["tools"])
      .flatMap(({ functionDeclarations }) => toList(functionDeclarations))
      .map(({ name, description, parameters, parametersJsonSchema }) => ({
        name: toText(name),
        description: toText(description),
        schema: toObject(parameters ?? parametersJsonSchema),
      })),
    calls: ofModel
      .map((part) => toObject(part["functionCall"]))
      .filter(({ name }) => name !== undefined)
      .map(({ id, name, args }) => ({ id: toText(id ?? name), name: toText(name), input: toObject(args) })),
    results: responses.map(({ id, name, response }) => ({
      id: toText(id ?? name),
      text: toResultText(toObject(response)),
    })),
    signatures: ofModel.map((part) => toText(part["thoughtSignature"])).filter((signature) => signature !== ""),
  };
}

function toResultText({ content }: Wire): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function toImages(part: Wire): ReceivedImage[] {
  const { mimeType, data } = toObject(part["inlineData"]);
  if (data !== undefined) return [{ mediaType: toText(mimeType), bytes: Buffer.from(toText(data), "base64") }];
  const { fileUri } = toObject(part["fileData"]);
  return fileUri === undefined ? [] : [{ url: toText(fileUri) }];
}

/** A turn has as many responses as the turn before it has calls, and its first call has the signature that it was given with. */
function findProblem(body: Wire, content: RequestContent, given: ReadonlySet<string>): string | undefined {
  const contents = toList(body["contents"]);
  for (const [index, { role, parts }] of contents.entries()) {
    if (role !== "model") continue;
    const calls = toList(parts).filter((part) => part["functionCall"] !== undefined);
    const answers = toList(contents[index + 1]?.["parts"]).filter((part) => part["functionResponse"] !== undefined);
    if (calls.length !== answers.length) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    }
    if (given.size > 0 && calls[0] !== undefined && calls[0]["thoughtSignature"] === undefined) {
      return "Function call is missing a thought_signature in functionCall parts.";
    }
  }
  const forged = content.signatures.find((signature) => !given.has(signature) && signature !== notOfOurs);
  return forged === undefined ? undefined : "Corrupted thought signature.";
}

function toParts({ reasoning, text, calls }: ScriptedAnswer): readonly Wire[] {
  const signed = reasoning === undefined ? {} : { thoughtSignature: reasoning.signature };
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning.text, thought: true }]),
    ...(text === undefined ? [] : [{ text, ...(calls === undefined && signed) }]),
    ...(calls ?? []).map(({ id, name, input }, index) => ({
      functionCall: { id, name, args: input },
      ...(index === 0 && signed),
    })),
  ];
}

/** Text comes in pieces, and its signature in a piece of its own; calls come whole. */
function split({ text, thoughtSignature, ...part }: Wire): readonly Wire[] {
  const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
  if (text === undefined) return [{ ...part, ...signed }];
  const pieces: Wire[] = toPieces(toText(text)).map((piece) => ({ ...part, text: piece }));
  return thoughtSignature === undefined ? pieces : [...pieces, { text: "", ...signed }];
}

function toChunk(
  parts: readonly Wire[],
  { model, turn }: RequestContent,
  { usage = usualUsage, isCutShort, isFiltered }: ScriptedAnswer,
  isLast: boolean,
): Wire {
  const { input, cacheRead, output, reasoning = 0 } = usage;
  const reason = isFiltered === true ? "SAFETY" : isCutShort === true ? "MAX_TOKENS" : "STOP";
  return {
    candidates: [{ content: { parts, role: "model" }, ...(isLast && { finishReason: reason }), index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
      candidatesTokenCount: output - reasoning,
      ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
      totalTokenCount: input + output,
    },
    modelVersion: model,
    responseId: `response-${turn}`,
  };
}
