import { toPieces, usualUsage, type ScriptedAnswer } from "./model-server-answer.ts";
import { toList, toObject, toText, type Dialect, type RequestContent, type Wire } from "./model-server-wire.ts";

const created_at = "2026-11-16T12:00:00.123456789Z";

/** Ollama, `POST /api/chat`: lines of JSON. A call comes whole, and its arguments are an object. */
export const ollama: Dialect = {
  base: "/ollama",
  isLines: true,
  isPath: (path) => path === "/ollama/api/chat",
  getKey: (headers) => /^Bearer (.+)$/u.exec(headers["authorization"] ?? "")?.[1],
  readRequest,
  findProblem,
  toBody: (answer, { model }) => ({ ...toLast(answer, model), message: toMessage(answer) }),
  toEvents: (answer, { model }) => {
    const { text = "", reasoning, calls } = answer;
    const messages: Wire[] = [
      ...toPieces(reasoning?.text ?? "").map((thinking) => ({ role: "assistant", content: "", thinking })),
      ...toPieces(text).map((content) => ({ role: "assistant", content })),
      ...(calls ?? []).map((call) => ({ role: "assistant", content: "", tool_calls: [toCall(call)] })),
    ];
    const lines = messages.map((message) => ({ model, created_at, message, done: false }));
    const end = { ...toLast(answer, model), message: { role: "assistant", content: "" } };
    return [...lines, end].map((line) => ({ data: JSON.stringify(line) }));
  },
  toFailure: () => ({ data: JSON.stringify({ error: "an error was encountered while running the model: EOF" }) }),
  toError: (_status, message) => ({ error: message }),
};

function readRequest(body: Wire): RequestContent {
  const messages = toList(body["messages"]);
  const of = (role: string): readonly Wire[] => messages.filter((message) => message["role"] === role);
  const toTexts = (role: string): string[] => of(role).map(({ content }) => toText(content));
  return {
    model: toText(body["model"]),
    isStream: body["stream"] !== false,
    turn: messages.length,
    system: toTexts("system").join("\n"),
    texts: toTexts("user"),
    images: messages
      .flatMap(({ images }) => (Array.isArray(images) ? (images as readonly string[]) : []))
      .map((data) => toImage(Buffer.from(data, "base64"))),
    tools: toList(body["tools"]).map((tool) => {
      const { name, description, parameters } = toObject(tool["function"]);
      return { name: toText(name), description: toText(description), schema: toObject(parameters) };
    }),
    calls: of("assistant")
      .flatMap((message) => toList(message["tool_calls"]))
      .map((call) => {
        const { name, arguments: input } = toObject(call["function"]);
        return { id: toText(call["id"]), name: toText(name), input: toObject(input) };
      }),
    results: of("tool").map((message) => ({ id: toText(message["tool_call_id"]), text: toText(message["content"]) })),
    signatures: [],
  };
}

/** Ollama is given bytes, and finds out itself what they are. */
function toImage(bytes: Buffer): { readonly mediaType: string; readonly bytes: Buffer } {
  return { mediaType: bytes[0] === 0xff ? "image/jpeg" : "image/png", bytes };
}

function findProblem(body: Wire): string | undefined {
  for (const { role, content, tool_calls: calls } of toList(body["messages"])) {
    if (typeof content !== "string")
      return "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string";
    if (
      role === "assistant" &&
      toList(calls).some((call) => typeof toObject(call["function"])["arguments"] !== "object")
    ) {
      return "json: cannot unmarshal string into Go struct field of type api.ToolCallFunctionArguments";
    }
  }
  return undefined;
}

function toMessage({ text = "", reasoning, calls }: ScriptedAnswer): Wire {
  return {
    role: "assistant",
    content: text,
    ...(reasoning !== undefined && { thinking: reasoning.text }),
    ...(calls !== undefined && { tool_calls: calls.map(toCall) }),
  };
}

function toCall({ id, name, input }: NonNullable<ScriptedAnswer["calls"]>[number]): Wire {
  return { id, function: { index: 0, name, arguments: input } };
}

function toLast({ usage = usualUsage, isCutShort }: ScriptedAnswer, model: string): Wire {
  return {
    model,
    created_at,
    done: true,
    done_reason: isCutShort === true ? "length" : "stop",
    total_duration: 4_883_583_458,
    load_duration: 1_334_875,
    prompt_eval_count: usage.input,
    prompt_eval_duration: 342_546_000,
    eval_count: usage.output,
    eval_duration: 4_535_599_000,
  };
}
