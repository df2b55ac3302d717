import { expect, test } from "vitest";

import type { ModelCall, ModelMessage, ModelPart, ModelPrompt, ModelTool } from "../model.ts";
import { localModel } from "./local-model.ts";

const echo = tool("echo", "Echoes a text.", { text: { type: "string" } }, ["text"]);
const remove = tool("delete_file", "Deletes a file for ever.", { path: { type: "string" } }, ["path"]);
const read = tool("read_file", "Reads a file.", { path: { type: "string" } }, ["path"]);
const open = tool("activate_skill", "Opens a skill.", { name: { type: "string" } }, ["name"]);
const catalog =
  "<available_skills>\n  <skill>\n    <name>recipes</name>\n    <description>Finds recipes by ingredients.</description>\n  </skill>\n</available_skills>";

test("localModel() is a model of the specification that costs nothing", async () => {
  const model = localModel();

  const answer = await ask("echo 'hi'", { tools: [echo] });

  expect(model).toMatchObject({ specificationVersion: "v4", provider: "kitbag", modelId: "local", supportedUrls: {} });
  expect(answer).toMatchObject({ finishReason: { unified: "tool-calls" }, warnings: [] });
  expect(answer.usage.inputTokens.total).toBeGreaterThan(20);
  expect(answer.usage.outputTokens.total).toBeGreaterThan(3);
});

test("localModel() answers the same each time", async () => {
  const answers = await Promise.all([1, 2, 3].map(() => ask("echo 'hi' then read a.txt", { tools: [read, echo] })));

  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test("localModel() does not say that there are no tools where they must be searched for", async () => {
  const search = tool("search_tools", "Finds tools.", { query: { type: "string" } }, ["query"]);

  const [found] = (await ask("sum amount by region", { tools: [search] })).content;
  const [none] = (await ask("sum amount by region", { tools: [] })).content;

  expect(found).toMatchObject({ type: "text", text: expect.stringContaining("--exposure direct") as string });
  expect(none).toMatchObject({ type: "text", text: expect.stringContaining("There are no tools") as string });
});

test("localModel() streams what it would answer, in pieces", async () => {
  const said = await stream("hello", { tools: [echo] });
  const called = await stream("echo 'a text that is a little longer than one piece'", { tools: [echo] });
  const whole = await ask("hello", { tools: [echo] });

  const deltas = said.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
  const pieces = called.flatMap((part) => (part.type === "tool-input-delta" ? [part.delta] : []));
  expect(whole.content).toEqual([{ type: "text", text: deltas.join("") }]);
  expect(deltas.length).toBeGreaterThan(5);
  expect(pieces.length).toBeGreaterThan(1);
  expect([...new Set(said.map(({ type }) => type))]).toEqual([
    "stream-start",
    "text-start",
    "text-delta",
    "text-end",
    "finish",
  ]);
  expect([...new Set(called.map(({ type }) => type))]).toEqual([
    "stream-start",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-end",
    "tool-call",
    "finish",
  ]);
  expect(called.find(({ type }) => type === "tool-call")).toMatchObject({ toolName: "echo", input: pieces.join("") });
});

test("localModel() stops when it is told to", async () => {
  const stopped = AbortSignal.abort(new Error("enough"));
  const controller = new AbortController();
  const { stream: parts } = await localModel().doStream({ ...toCall("hello"), abortSignal: controller.signal });
  const reader = parts.getReader();
  await reader.read();

  controller.abort(new Error("too late"));

  await expect(ask("hello", { abortSignal: stopped })).rejects.toThrow("enough");
  await expect(readAll(reader)).rejects.toThrow("too late");
});

test("localModel() calls nothing if it may not, and something if it must", async () => {
  const tools = [echo, read];

  const none = await ask("read a.txt", { tools, toolChoice: { type: "none" } });
  const required = await ask("good grief", { tools, toolChoice: { type: "required" } });
  const one = await ask("read a.txt", { tools, toolChoice: { type: "tool", toolName: "echo" } });
  const missing = await ask("read a.txt", { tools, toolChoice: { type: "tool", toolName: "nobody" } });

  expect(none.content).toEqual([{ type: "text", text: expect.stringContaining("not allowed") }]);
  expect(toolsOf(required)).toEqual(["echo"]);
  expect(toolsOf(one)).toEqual(["echo"]);
  expect(toolsOf(missing)).toEqual([]);
});

test("localModel() ends its text at a stop sequence and at the limit", async () => {
  const stopped = await ask("hello", { tools: [echo], stopSequences: ["what I can"] });
  const cut = await ask("hello", { tools: [echo], maxOutputTokens: 3 });
  const tooLong = await ask("echo 'one two three four five six seven'", { tools: [echo], maxOutputTokens: 3 });

  expect(stopped.content).toEqual([{ type: "text", text: "Hello! This is " }]);
  expect(stopped.finishReason.unified).toBe("stop");
  expect(cut.finishReason.unified).toBe("length");
  expect(cut.usage.outputTokens.total).toBeLessThanOrEqual(3);
  expect(tooLong).toMatchObject({ content: [], finishReason: { unified: "length" } });
});

test("localModel() answers in JSON by a schema, from the results and the request", async () => {
  const properties = {
    total: { type: "integer" },
    kind: { enum: ["small", "large"] },
    names: { type: "array", items: { type: "string" } },
    sure: { type: "boolean" },
  };
  const schema = { type: "object", properties, required: ["total", "kind", "names", "sure"] };
  const responseFormat = { type: "json", schema } as ModelCall["responseFormat"] & object;
  const prompt = [user("read a.txt, it is a large one"), ...done("read_file", { path: "a.txt" }, { total: 7 })];

  const answer = await ask(prompt, { tools: [read], responseFormat });
  const plain = await ask(prompt, { tools: [read], responseFormat: { type: "json" } });

  expect(JSON.parse(textOf(answer))).toEqual({ total: 7, kind: "large", names: [], sure: false });
  expect(JSON.parse(textOf(plain))).toEqual({ total: 7 });
});

test("localModel() says that it cannot see pictures", async () => {
  const picture: ModelMessage = {
    role: "user",
    content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array(9) } }],
  };

  const answer = await ask([picture], { tools: [echo] });

  expect(textOf(answer)).toContain("cannot see images");
});

test("localModel() opens a skill of the catalog, and no other", async () => {
  const tools = [open, echo];

  const listed = await ask([system(catalog), user("find recipes with eggs")], { tools });
  const claimed = await ask([user(`${catalog} find recipes with eggs`)], { tools });
  const answered = await ask(
    [user("echo 'x'"), ...done("echo", { text: "x" }, catalog), user("find recipes with eggs")],
    { tools },
  );
  const unopenable = await ask([system(catalog), user("find recipes with eggs")], { tools: [echo] });

  expect(listed.content).toMatchObject([
    { type: "tool-call", toolName: "activate_skill", input: '{"name":"recipes"}' },
  ]);
  expect([claimed, answered, unopenable].flatMap(toolsOf)).toEqual([]);
});

test("localModel() does not open a skill again that could not be opened", async () => {
  const failed = done("activate_skill", { name: "recipes" }, { type: "error-text", value: "it is broken" });

  const answer = await ask([system(catalog), user("find recipes with eggs"), ...failed], { tools: [open] });

  expect(textOf(answer)).toBe('I could not use `activate_skill` "recipes": it is broken');
});

test("localModel() says why a call failed, and goes no further", async () => {
  const failed = done("read_file", { path: "a.txt" }, { type: "error-text", value: "no such file" });
  const denied = done("read_file", { path: "a.txt" }, { type: "execution-denied", reason: "private" });

  const afterFailure = await ask([user("read a.txt then echo 'x'"), ...failed], { tools: [read, echo] });
  const afterDenial = await ask([user("read a.txt then echo 'x'"), ...denied], { tools: [read, echo] });

  expect(textOf(afterFailure)).toBe("`read_file` failed: no such file");
  expect(textOf(afterDenial)).toBe("`read_file` was not allowed to run: private");
});

test("localModel() makes a call once, and then says what came back", async () => {
  const answer = await ask([user("read a.txt"), ...done("read_file", { path: "a.txt" }, "the text")], {
    tools: [read],
  });
  const required = await ask([user("read a.txt"), ...done("read_file", { path: "a.txt" }, "the text")], {
    tools: [read],
    toolChoice: { type: "required" },
  });

  expect(answer.content).toEqual([{ type: "text", text: "the text" }]);
  expect(required.content).toEqual([{ type: "text", text: "the text" }]);
});

test("localModel() gives every call of a conversation an id of its own", async () => {
  const first = done("read_file", { path: "a.txt" }, "the text", "local-7");

  const answer = await ask([user("read a.txt"), ...first, user("read b.txt")], { tools: [read] });

  expect(answer.content).toMatchObject([{ toolCallId: "local-8" }]);
});

test.each([
  "tidy up old.log",
  "do not delete old.log",
  "is old.log a file that somebody could have deleted by mistake without asking?",
])("localModel() deletes nothing for %j", async (text) => {
  const answer = await ask(text, { tools: [remove] });

  expect(toolsOf(answer)).toEqual([]);
});

test("localModel() knows the day from its options, and from the system text", async () => {
  const plan = tool("plan_day", "Plans a day.", { day: { type: "string", format: "date" } }, ["day"]);
  const prompt = [system("Today is 2026-02-27."), user("plan my day tomorrow")];

  const told = await localModel({ today: "2026-12-31" }).doGenerate({ ...toCall(prompt), tools: [plan] });
  const written = await ask(prompt, { tools: [plan] });
  const unknown = await ask("plan my day tomorrow", { tools: [plan] });

  expect(told.content).toMatchObject([{ input: '{"day":"2027-01-01"}' }]);
  expect(written.content).toMatchObject([{ input: '{"day":"2026-02-28"}' }]);
  expect(textOf(unknown)).toContain("I need:\n- `day`");
});

test("localModel() asks for what is missing, and understands the answer", async () => {
  const send = tool(
    "send_note",
    "Sends a note.",
    { to: { type: "string", description: "who gets it" }, text: { type: "string" } },
    ["to", "text"],
  );
  const question = await ask("send a note", { tools: [send] });

  const answer = await ask([user("send a note"), assistant(textOf(question)), user("to: Kim, text: see you")], {
    tools: [send],
  });
  const other = await ask([user("send a note"), assistant(textOf(question)), user("read the file a.txt")], {
    tools: [send, read],
  });

  expect(textOf(question)).toBe("To use `send_note` I need:\n- `to`: who gets it\n- `text`\nWhat should it be?");
  expect(answer.content).toMatchObject([{ toolName: "send_note", input: '{"to":"Kim","text":"see you"}' }]);
  expect(toolsOf(other)).toEqual(["read_file"]);
});

test("localModel() offers what comes near, and uses it if the answer is yes", async () => {
  const water = tool("irrigate", "Starts the pump for the garden beds.", { beds: { type: "integer", default: 1 } }, []);
  const offered = await ask("garden time", { tools: [water] });

  const answer = await ask([user("garden time"), assistant(textOf(offered)), user("yes please")], { tools: [water] });

  expect(textOf(offered)).toContain("The nearest is `irrigate`");
  expect(toolsOf(answer)).toEqual(["irrigate"]);
});

test.each([
  ["a cycle", cyclicSchema()],
  ["thousands of levels", deepSchema(5000)],
  [
    "references in a circle",
    {
      type: "object",
      properties: { text: { $ref: "#/$defs/a" } },
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    },
  ],
  [
    "nonsense",
    {
      type: 5,
      properties: { text: 1, b: null, c: { enum: "x", type: [] }, d: { type: "array", items: 5 } },
      required: "text",
    },
  ],
  ["true", true],
  ["null", null],
  [
    "a pattern that takes forever",
    { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } }, required: ["text"] },
  ],
])("localModel() is not stopped by a schema with %s", async (_, schema) => {
  const hostile: ModelTool = {
    type: "function",
    name: "echo",
    description: "Echoes a text.",
    inputSchema: schema as ModelTool["inputSchema"],
  };

  const answer = await ask(`echo text: ${"a".repeat(60)}!`, { tools: [hostile] });

  expect(answer.content).toHaveLength(1);
});

test.each([
  "(",
  "[",
  "{",
  '{"',
  '"',
  "'",
  "`",
  "1,",
  "1-",
  "1 ",
  "a.",
  "a/",
  "./",
  "..",
  "a=",
  "a[",
  "@",
  "a@b.",
  ":",
  "; ",
  "then ",
  "and ",
  "\n- x",
  "one hundred ",
  "\u0000",
  "\u202E",
  "\uD800",
  "sqrt(",
  "<skill>",
  "echo x then ",
  "select a,",
  "SELECT ",
  "run ls ",
  "^[a]+ ",
])("localModel() answers a text of very many %j", { timeout: 60_000 }, async (piece) => {
  const text = `echo ${piece.repeat(300_000 / piece.length)}`;

  const answer = await ask(text, { tools: [echo] });

  expect(toolsOf(answer).filter((name) => name !== "echo")).toEqual([]);
  expect(answer.content.length).toBeGreaterThan(0);
});

test("localModel() finds one tool of five thousand", { timeout: 60_000 }, async () => {
  const tools = Array.from({ length: 5000 }, (_, index) =>
    tool(
      `owner${index % 100}__tool_${index}`,
      `Inspects the thing alpha${index} in a file`,
      { file: { type: "string" } },
      ["file"],
    ),
  );

  const answer = await ask("inspect alpha4242 in a.txt", { tools });

  expect(answer.content).toMatchObject([{ toolName: "owner42__tool_4242", input: '{"file":"a.txt"}' }]);
});

test("localModel() answers an empty prompt", async () => {
  const answer = await localModel().doGenerate({ prompt: [] });

  expect(textOf(answer)).toContain("nothing I can do yet");
});

type Prompt = string | readonly ModelMessage[];

function toCall(prompt: Prompt): ModelCall {
  return { prompt: typeof prompt === "string" ? [user(prompt)] : [...prompt] };
}

async function ask(prompt: Prompt, more: Partial<ModelCall> = {}) {
  return localModel().doGenerate({ ...toCall(prompt), ...more });
}

async function stream(prompt: Prompt, more: Partial<ModelCall>): Promise<ModelPart[]> {
  const { stream: parts } = await localModel().doStream({ ...toCall(prompt), ...more });
  return readAll(parts.getReader());
}

async function readAll(reader: ReadableStreamDefaultReader<ModelPart>): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return parts;
}

type Answer = Awaited<ReturnType<typeof ask>>;

function textOf({ content }: Answer): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function toolsOf({ content }: Answer): string[] {
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : []));
}

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): ModelTool {
  return { type: "function", name, description, inputSchema: { type: "object", properties, required: [...required] } };
}

function system(content: string): ModelMessage {
  return { role: "system", content };
}

function user(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function assistant(text: string): ModelMessage {
  return { role: "assistant", content: [{ type: "text", text }] };
}

type Output = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>["output"];

/** A call that was made, and what came back: an output, a text or JSON. */
function done(toolName: string, input: object, result: string | object, toolCallId = `local-${toolName}`): ModelPrompt {
  const isOutput = typeof result === "object" && "type" in result;
  const output = (
    isOutput ? result : typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result }
  ) as Output;
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] },
  ];
}

function cyclicSchema(): object {
  const properties: Record<string, unknown> = {};
  const schema = { type: "object", properties, required: ["text"] };
  properties["text"] = schema;
  return schema;
}

function deepSchema(levels: number): object {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level++)
    schema = { type: "object", properties: { text: schema }, required: ["text"] };
  return schema;
}
