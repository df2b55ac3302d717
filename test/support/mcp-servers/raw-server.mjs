// A tiny MCP server on standard streams, without any library, that can misbehave in the way its first argument says.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const [way = "well", file] = process.argv.slice(2);
const object = (properties = {}) => ({ type: "object", properties });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const tools = {
  well: [
    { name: "echo", description: "Says it again", inputSchema: object({ text: { type: "string" } }) },
    { name: "fail", description: "Fails", inputSchema: object() },
    { name: "slow", description: "Takes its time", inputSchema: object() },
    { name: "picture", description: "Draws", inputSchema: object() },
    { name: "secret", description: "Tells what it should not", inputSchema: object() },
    {
      name: "count",
      description: "Counts",
      inputSchema: object(),
      outputSchema: object({ n: { type: "number" } }),
      annotations: { readOnlyHint: true },
    },
    { name: "block", description: "Hears nothing any more", inputSchema: object() },
    { name: "heard", description: "Tells how many calls were cancelled", inputSchema: object() },
    { name: "die", description: "Dies", inputSchema: object() },
    { name: "flood", description: "Says too much", inputSchema: object() },
    { name: "meta", description: "Tells what came with the call", inputSchema: object() },
    { name: "look", description: "Reads a file", inputSchema: object({ path: { type: "string" } }) },
  ],
  writes: [
    { name: "put", description: "Writes a file", inputSchema: object({ path: { type: "string" } }) },
    { name: "look", description: "Reads a file", inputSchema: object({ path: { type: "string" } }) },
  ],
  names: [
    { name: "../x", description: "Leads out", inputSchema: object() },
    { name: "__proto__", description: "Is not what it seems", inputSchema: object() },
    { name: "a b", description: "Has a blank", inputSchema: object() },
    { name: "a_b", description: "Has none", inputSchema: object() },
    { name: "twice", description: "One", inputSchema: object() },
    { name: "twice", description: "Two", inputSchema: object() },
    { name: "", description: "Has no name", inputSchema: object() },
    {
      name: "hidden\u200b",
      description: "Reads\u200b well\u{e0041}\u202e" + "x".repeat(30_000),
      inputSchema: object(),
    },
    { name: "no-schema", description: "Has no schema" },
    { name: "cyclic", description: "Turns round", inputSchema: { type: "object", $ref: "#" } },
    { name: "list", description: "Takes a list", inputSchema: { type: "array" } },
    { name: "outside", description: "Refers to others", inputSchema: object({ a: { $ref: "https://example.com/a" } }) },
    { name: "slow-pattern", description: "Stalls", inputSchema: object({ a: { type: "string", pattern: "^(a+)+$" } }) },
    { name: "huge", description: "Is large", inputSchema: object({ a: { description: "x".repeat(700_000) } }) },
    { name: "deep", description: "Is deep", inputSchema: nest(1000) },
    {
      name: "liar",
      description: "Says both",
      inputSchema: object(),
      annotations: { readOnlyHint: true, destructiveHint: true },
    },
    { name: "fine", description: "Works", inputSchema: object() },
  ],
  many: Array.from({ length: 10_000 }, (_, index) => ({
    name: `t${index}`,
    description: "One of many",
    inputSchema: object(),
  })),
};

function nest(depth) {
  let schema = { type: "object" };
  for (let level = 0; level < depth; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}

function listTools() {
  if (way === "file") return JSON.parse(readFileSync(file, "utf8"));
  return tools[way] ?? tools.well;
}

const answers = {
  put: ({ path }) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "evil");
    return { content: [{ type: "text", text: "written" }] };
  },
  echo: ({ text }) => ({ content: [{ type: "text", text: `again: ${text}` }] }),
  fail: () => ({ isError: true, content: [{ type: "text", text: "the disk is full" }] }),
  picture: () => ({
    content: [
      { type: "text", text: "here" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ],
  }),
  secret: () => ({ content: [{ type: "text", text: `it is ${process.env.TEST_SECRET}` }] }),
  count: () => ({ content: [{ type: "text", text: '{"n":3}' }], structuredContent: { n: 3 } }),
  look: ({ path }) => ({ content: [{ type: "text", text: readFileSync(path, "utf8") }] }),
  heard: () => ({ content: [{ type: "text", text: String(cancelled) }] }),
  fine: () => ({ content: [{ type: "text", text: "fine" }] }),
};

function call(id, { name, arguments: input = {}, _meta }) {
  if (name === "die") process.exit(7);
  if (name === "block") for (;;);
  if (name === "flood") return void process.stdout.write("x".repeat(32 * 1024 * 1024));
  if (name === "meta") return send({ id, result: { content: [{ type: "text", text: JSON.stringify(_meta) }] } });
  if (name === "slow") {
    const progressToken = _meta?.progressToken;
    send({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2, message: "half" } });
    return void waiting.set(
      id,
      setTimeout(() => send({ id, result: { content: [{ type: "text", text: "done" }] } }), 60_000),
    );
  }
  const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
  if (answer === undefined) return send({ id, error: { code: -32602, message: `no tool ${name}` } });
  send({ id, result: answer(input) });
}

const waiting = new Map();
let cancelled = 0;
if (way === "dies") process.exit(3);
if (way === "babbles") process.stdout.write("not json\n".repeat(500));
if (way === "malformed") process.stdout.write('Welcome!\n{"jsonrpc": "2.0", \n{"id": 1}\n[]\n\n');
process.stderr.write("starting\n");

createInterface({ input: process.stdin })
  .on("close", () => process.exit(0))
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (way === "hangs") return;
    if (way === "fragile" && method === "server/discover") process.exit(1);
    if (method === "initialize") {
      const { protocolVersion } = params;
      const serverInfo = { name: "raw", version: "1.0.0" };
      return send({ id, result: { protocolVersion, serverInfo, capabilities: { tools: { listChanged: true } } } });
    }
    if (method === "notifications/cancelled") {
      cancelled += 1;
      return clearTimeout(waiting.get(params.requestId));
    }
    if (method === "tools/list") return send({ id, result: { tools: listTools() } });
    if (method === "tools/call") {
      if (way === "file" && params.name === "change") {
        send({ method: "notifications/tools/list_changed" });
        return send({ id, result: { content: [] } });
      }
      return call(id, params);
    }
    if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  });
