import { toInputText, toPieces, usualUsage, type ScriptedAnswer } from "./model-server-answer.ts";
import { openaiChat } from "./model-server-openai-chat.ts";
import {
  toImage,
  toInput,
  toList,
  toObject,
  toText,
  type Dialect,
  type RequestContent,
  type Wire,
  type WireEvent,
} from "./model-server-wire.ts";

const base = "/openai/v1";

/** OpenAI, `POST /v1/responses`. Thoughts are a summary, with the thoughts themselves encrypted. */
export const openaiResponses: Dialect = {
  base,
  isPath: (path) => path === `${base}/responses`,
  getKey: openaiChat.getKey,
  readRequest,
  findProblem,
  toBody: (answer, content) => toResponse(answer, content, toItems(answer, content)),
  toEvents,
  toGiven: (answer, content) => toItems(answer, content).map((item) => toText(item["id"])),
  toFailure: () => ({
    name: "response.failed",
    data: JSON.stringify({
      type: "response.failed",
      sequence_number: 99,
      response: {
        id: "resp_1",
        object: "response",
        status: "failed",
        error: { code: "server_error", message: "The model failed to generate a response." },
      },
    }),
  }),
  toError: openaiChat.toError,
};

function readRequest(body: Wire): RequestContent {
  const items = toList(body["input"]);
  const ofRole = (...roles: string[]): readonly Wire[] => items.filter(({ role }) => roles.includes(toText(role)));
  const ofType = (name: string): readonly Wire[] => items.filter(({ type }) => type === name);
  const outputs = ofType("function_call_output");
  const outputParts = outputs.flatMap(({ output }) => toList(output));
  const parts = [...ofRole("user").flatMap(({ content }) => toList(content)), ...outputParts];
  return {
    model: toText(body["model"]),
    isStream: body["stream"] === true,
    turn: items.length,
    system: [body["instructions"], ...ofRole("system", "developer").map(({ content }) => content)]
      .flatMap((content) => (typeof content === "string" ? [content] : toList(content).map(({ text }) => toText(text))))
      .join("\n"),
    texts: parts.filter(({ type }) => type === "input_text").map(({ text }) => toText(text)),
    images: parts.filter(({ type }) => type === "input_image").map((part) => toImage(toText(part["image_url"]))),
    tools: toList(body["tools"])
      .filter(({ type }) => type === "function")
      .map(({ name, description, parameters }) => ({
        name: toText(name),
        description: toText(description),
        schema: toObject(parameters),
      })),
    calls: ofType("function_call").map((item) => ({
      id: toText(item["call_id"]),
      name: toText(item["name"]),
      input: toInput(item["arguments"]),
    })),
    results: outputs.map(({ call_id: id, output }) => ({
      id: toText(id),
      text:
        typeof output === "string"
          ? output
          : toList(output)
              .map(({ text }) => toText(text))
              .join(""),
    })),
    signatures: ofType("reasoning").map((item) => toText(item["encrypted_content"])),
  };
}

function findProblem(body: Wire, content: RequestContent, given: ReadonlySet<string>): string | undefined {
  const { calls, results, signatures } = content;
  const long = calls.find(({ id }) => id.length > 64);
  if (long !== undefined)
    return "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64.";
  const open = calls.find(({ id }) => !results.some((result) => result.id === id));
  if (open !== undefined) return `No tool output found for function call ${open.id}.`;
  const stray = results.find(({ id }) => !calls.some((call) => call.id === id));
  if (stray !== undefined) return `No tool call found for function call output with call_id ${stray.id}.`;
  const forged = signatures.find((signature) => !given.has(signature));
  if (forged !== undefined) return "The encrypted content could not be verified.";
  return findItemProblem(toList(body["input"]), body["store"] === false, given);
}

/** An item may be sent by its id if the provider keeps it, and a call goes nowhere without the thoughts that led to it. */
function findItemProblem(items: readonly Wire[], isForgotten: boolean, given: ReadonlySet<string>): string | undefined {
  const lost = items.find(({ type, id }) => type === "item_reference" && (isForgotten || !given.has(toText(id))));
  if (lost !== undefined) {
    return `Item with id '${toText(lost["id"])}' not found. Items are not persisted when \`store\` is set to false.`;
  }
  const ids = new Set(items.map(({ id }) => toText(id)));
  for (const id of ids) {
    const thoughts = id.replace(/^(?:fc_(\d+)_\d+|msg_(\d+))$/u, "rs_$1$2");
    if (thoughts !== id && given.has(thoughts) && !ids.has(thoughts)) {
      return `Item '${id}' of type '${id.startsWith("fc") ? "function_call" : "message"}' was provided without its required 'reasoning' item: '${thoughts}'.`;
    }
  }
  return undefined;
}

/** The items of an answer, whole. */
function toItems({ reasoning, text, calls = [] }: ScriptedAnswer, { turn }: RequestContent): readonly Wire[] {
  const items: Wire[] = [];
  if (reasoning !== undefined) {
    const summary = [{ type: "summary_text", text: reasoning.text }];
    items.push({ id: `rs_${turn}`, type: "reasoning", summary, encrypted_content: reasoning.signature });
  }
  if (text !== undefined) {
    const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
    items.push({ id: `msg_${turn}`, type: "message", status: "completed", role: "assistant", content });
  }
  for (const [index, { id, name, ...given }] of calls.entries()) {
    const call = { call_id: id, name, arguments: toInputText(given) };
    items.push({ id: `fc_${turn}_${index + 1}`, type: "function_call", status: "completed", ...call });
  }
  return items;
}

function toCutReason({ isCutShort, isFiltered }: ScriptedAnswer): string | undefined {
  if (isFiltered === true) return "content_filter";
  return isCutShort === true ? "max_output_tokens" : undefined;
}

function toResponse(
  answer: ScriptedAnswer,
  { model, turn }: RequestContent,
  output: readonly Wire[] | undefined,
): Wire {
  const { usage = usualUsage } = answer;
  const cutBy = toCutReason(answer);
  const done = cutBy === undefined ? "completed" : "incomplete";
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: 1_760_000_000,
    status: output === undefined ? "in_progress" : done,
    error: null,
    incomplete_details: output !== undefined && cutBy !== undefined ? { reason: cutBy } : null,
    model,
    output: output ?? [],
    parallel_tool_calls: true,
    usage:
      output === undefined
        ? null
        : {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
            total_tokens: usage.input + usage.output,
          },
  };
}

function toEvents(answer: ScriptedAnswer, content: RequestContent): readonly WireEvent[] {
  const items = toItems(answer, content);
  const begun = { response: toResponse(answer, content, undefined) };
  const events: Wire[] = [
    { type: "response.created", ...begun },
    { type: "response.in_progress", ...begun },
    ...items.flatMap((item, index) => toItemEvents(item, index)),
    {
      type: toCutReason(answer) === undefined ? "response.completed" : "response.incomplete",
      response: toResponse(answer, content, items),
    },
  ];
  return events.map((event, index) => ({
    name: toText(event["type"]),
    data: JSON.stringify({ ...event, sequence_number: index }),
  }));
}

function toItemEvents(item: Wire, output_index: number): readonly Wire[] {
  const where = { item_id: item["id"], output_index };
  const added = (empty: Wire): Wire => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...empty },
  });
  const done = { type: "response.output_item.done", output_index, item };
  if (item["type"] === "reasoning") {
    const [part] = toList(item["summary"]);
    const inPart = { ...where, summary_index: 0 };
    return [
      added({ summary: [] }),
      { type: "response.reasoning_summary_part.added", ...inPart, part: { type: "summary_text", text: "" } },
      ...toDeltas("response.reasoning_summary_text.delta", inPart, toText(part?.["text"])),
      { type: "response.reasoning_summary_text.done", ...inPart, text: part?.["text"] },
      { type: "response.reasoning_summary_part.done", ...inPart, part },
      done,
    ];
  }
  if (item["type"] === "message") {
    const [part] = toList(item["content"]);
    const inPart = { ...where, content_index: 0 };
    return [
      added({ status: "in_progress", content: [] }),
      { type: "response.content_part.added", ...inPart, part: { ...part, text: "" } },
      ...toDeltas("response.output_text.delta", inPart, toText(part?.["text"])),
      { type: "response.output_text.done", ...inPart, text: part?.["text"], logprobs: [] },
      { type: "response.content_part.done", ...inPart, part },
      done,
    ];
  }
  return [
    added({ status: "in_progress", arguments: "" }),
    ...toDeltas("response.function_call_arguments.delta", where, toText(item["arguments"])),
    { type: "response.function_call_arguments.done", ...where, arguments: item["arguments"] },
    done,
  ];
}

function toDeltas(type: string, where: Wire, text: string): readonly Wire[] {
  return toPieces(text).map((delta) => ({ type, ...where, delta }));
}
