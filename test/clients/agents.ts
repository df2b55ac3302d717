/** Coding agents of others. A scripted model on loopback says what they call; what they answer the model with is what is seen. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { clientsFolder, loadClient, type Reach } from "./client-under-test.ts";
import type { Project } from "../run-kitbag.ts";
import { type CounterProject, counterWords } from "./counter-project.ts";
import { serveFor, toCell, type Row } from "./drive-client.ts";

/** A tool that the model calls, and its input. */
export type Step = readonly [tool: string, input: object];

/** What an agent sent to the model: its requests, and what came of each step. */
export interface ModelLog {
  readonly requests: readonly string[];
  readonly results: readonly string[];
}

interface ScriptedModel {
  readonly port: number;
  readonly log: ModelLog;
}

/** How a model of one vendor is spoken to. */
interface ModelWire {
  /** The end of the conversation that a request continues; nothing if it is no request of the agent itself. */
  readEnd(body: Body): string | undefined;
  writeStep(response: ServerResponse, step: Step | undefined, id: string): void;
}

interface Body {
  readonly tools?: readonly unknown[];
  readonly messages?: readonly unknown[];
  readonly input?: readonly unknown[];
}

/** An agent may still be connecting, or reading its list again: then the model tries a few times. */
const mostTries = 10;

async function startModel(steps: readonly Step[], wire: ModelWire): Promise<ScriptedModel> {
  const log = { requests: [] as string[], results: [] as string[] };
  let tries = 0;

  /** The step that comes next, by the last call in the conversation. */
  function findNext(end: string): number {
    const [, last] = [...end.matchAll(/step_(\d+)_\d+/gu)].at(-1) ?? [];
    if (last === undefined) return 0;
    log.results[Number(last)] = end;
    const isMissing = /No such tool available|unsupported call/u.test(end);
    tries = isMissing ? tries + 1 : 0;
    return isMissing && tries < mostTries ? Number(last) : Number(last) + 1;
  }

  const server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
    incoming.on("end", () => {
      const end = text.startsWith("{") ? wire.readEnd(JSON.parse(text) as Body) : undefined;
      if (end === undefined) return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
      const next = findNext(end);
      const id = `step_${next}_${log.requests.push(text)}`;
      setTimeout(
        () => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          wire.writeStep(response, steps[next], id);
          response.end();
        },
        tries > 0 ? 200 : 0,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, log };
}

function writeEvent(response: ServerResponse, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

const anthropic: ModelWire = {
  readEnd: ({ tools = [], messages = [] }) => (tools.length === 0 ? undefined : JSON.stringify(messages.slice(-2))),
  writeStep(response, step, id) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const [name = "", input = {}] = step ?? [];
    const block = step === undefined ? { type: "text", text: "" } : { type: "tool_use", id, name, input: {} };
    const delta =
      step === undefined
        ? { type: "text_delta", text: "done" }
        : { type: "input_json_delta", partial_json: JSON.stringify(input) };
    const message = { id, type: "message", role: "assistant", model: "scripted", content: [], usage };
    writeEvent(response, "message_start", { message });
    writeEvent(response, "content_block_start", { index: 0, content_block: block });
    writeEvent(response, "content_block_delta", { index: 0, delta });
    writeEvent(response, "content_block_stop", { index: 0 });
    const stop = { stop_reason: step === undefined ? "end_turn" : "tool_use" };
    writeEvent(response, "message_delta", { delta: stop, usage });
    writeEvent(response, "message_stop", {});
  },
};

const openAi: ModelWire = {
  readEnd: ({ input }) => (input === undefined ? undefined : JSON.stringify(input.at(-1))),
  writeStep(response, step, id) {
    const [tool = "", input = {}] = step ?? [];
    const [namespace, name] = tool.includes("/") ? tool.split("/") : [undefined, tool];
    const call = {
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    };
    const content = [{ type: "output_text", text: "done", annotations: [] }];
    const item =
      step === undefined
        ? { type: "message", id: `msg_${id}`, role: "assistant", content }
        : { ...call, ...(namespace !== undefined && { namespace }) };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    writeEvent(response, "response.created", { response: { id: `r_${id}` } });
    writeEvent(response, "response.output_item.done", { output_index: 0, item });
    writeEvent(response, "response.completed", { response: { id: `r_${id}`, usage } });
  },
};

/** Homes and settings of the person who runs the tests are none of an agent's. */
function toAgentEnvironment(project: Project): { readonly PATH: string; readonly HOME: string } {
  const home = join(project.folder, "agent-home");
  mkdirSync(home, { recursive: true });
  return { PATH: process.env["PATH"] ?? "", HOME: home };
}

interface ClaudeSdk {
  query(given: object): AsyncIterable<{ readonly subtype?: string; readonly tools?: readonly string[] }>;
}

/** What Claude Code is started with. */
export interface ClaudeTask {
  readonly project: Project;
  readonly reach: Reach;
  /** What its scripted model calls. */
  readonly steps: readonly Step[];
  /** Answers the questions of the server. @default the client cannot be asked */
  readonly onElicitation?: (question: { readonly message: string }) => Promise<object>;
}

/** What was seen of Claude Code. */
export interface SeenClaude {
  readonly log: ModelLog;
  /** The tools that it has at the start. */
  readonly tools: readonly string[];
  /** The names that its permission rules were asked about. */
  readonly asked: readonly string[];
}

/** Runs the Claude Agent SDK, which is Claude Code, until its model has nothing more to call. */
export async function runClaude({ project, reach, steps, onElicitation }: ClaudeTask): Promise<SeenClaude> {
  const { port, log } = await startModel(steps, anthropic);
  const { query } = await loadClient<ClaudeSdk>("@anthropic-ai/claude-agent-sdk/sdk.mjs");
  const home = toAgentEnvironment(project);
  const env = {
    ...home,
    CLAUDE_CONFIG_DIR: home.HOME,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: "a-scripted-model-asks-for-none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const server = reach.over === "http" ? { type: "http", url: reach.url } : { type: "stdio", ...toProgram(reach) };
  const asked: string[] = [];
  const canUseTool = (name: string, updatedInput: object): object => {
    asked.push(name);
    return { behavior: "allow", updatedInput };
  };
  const given = { cwd: home.HOME, env, mcpServers: { kitbag: server }, settingSources: [], canUseTool };
  const options = onElicitation === undefined ? given : { ...given, onElicitation };
  let tools: readonly string[] = [];
  for await (const message of query({ prompt: "go", options }))
    if (message.subtype === "init") tools = message.tools ?? [];
  return { log, tools, asked };
}

/** What was seen of an agent, and the names that its permission rules were asked about. */
export interface SeenAgent {
  readonly row: Row;
  readonly asked: readonly string[];
}

/** Claude Code at the server of a project. */
export async function driveClaude(over: Reach["over"], project: CounterProject): Promise<SeenAgent> {
  const { reach, protocol } = await serveFor(project, over, counterWords);
  const steps: Step[] = [
    ["mcp__kitbag__activate_skill", { name: "counter" }],
    ["mcp__kitbag__counter__count", { to: 3 }],
    ["mcp__kitbag__counter__fail", {}],
    ["ReadMcpResourceTool", { server: "kitbag", uri: "kitbag://guide" }],
  ];
  const { log, tools, asked } = await runClaude({ project, reach, steps });
  const { requests, results } = log;
  const row: Row = {
    protocol: protocol(),
    list: toCell(tools.includes("mcp__kitbag__activate_skill")),
    open: toCell(says(results[0], "counter__count")),
    appear: toCell(!says(results[1], "No such tool")),
    // The agent tells its model which tools there are now.
    told: toCell(requests.slice(2).some((request) => says(request, String.raw`\nmcp__kitbag__counter__count`))),
    call: toCell(says(results[1], "counted 3")),
    progress: "–",
    cancel: "–",
    error: toCell(says(results[2], "the counter is broken")),
    resource: toCell(says(results[3], "# Kitbag")),
  };
  return { row, asked };
}

/** Codex, as its command line. */
export async function driveCodex(
  over: Reach["over"],
  project: CounterProject,
  words: readonly string[] = [],
): Promise<Row> {
  const { reach, protocol } = await serveFor(project, over, [...counterWords, ...words]);
  const steps: Step[] = [
    ["mcp__kitbag/activate_skill", { name: "counter" }],
    ["mcp__kitbag/counter__count", { to: 3 }],
    ["mcp__kitbag/call_tool", { name: "counter__count", input: { to: 3 } }],
    ["mcp__kitbag/call_tool", { name: "counter__fail" }],
    ["read_mcp_resource", { server: "kitbag", uri: "kitbag://guide" }],
  ];
  const { port, log } = await startModel(steps, openAi);
  const env = toAgentEnvironment(project);
  writeFileSync(join(env.HOME, "config.toml"), toCodexConfig(reach, port));
  const program = join(clientsFolder, "@openai/codex/bin/codex.js");
  const child = spawn(process.execPath, [program, "exec", "--skip-git-repo-check", "go"], {
    cwd: env.HOME,
    env: { ...env, CODEX_HOME: env.HOME, SCRIPTED_KEY: "a-scripted-model-asks-for-none" },
    stdio: ["ignore", "ignore", "ignore"],
  });
  await new Promise((resolve) => child.once("close", resolve));
  const { requests, results } = log;
  const isDirect = says(results[1], "counted 3");
  return {
    protocol: protocol(),
    list: toCell(says(requests[0], "activate_skill")),
    open: toCell(says(results[0], "counter__count")),
    appear: toCell(isDirect),
    told: "–",
    call: isDirect ? "yes" : says(results[2], "counted 3") ? "call_tool" : "no",
    progress: "–",
    cancel: "–",
    error: says(results[3], "the counter is broken") ? (isDirect ? "yes" : "call_tool") : "no",
    resource: toCell(says(results[4], "# Kitbag")),
  };
}

function says(text: string | undefined, part: string): boolean {
  return text?.includes(part) === true;
}

function toProgram({ command, args, env }: Extract<Reach, { over: "stdio" }>): object {
  return { command, args: [...args], env };
}

/** JSON texts and lists are TOML too. */
function toCodexConfig(reach: Reach, port: number): string {
  const server =
    reach.over === "http"
      ? [`url = ${JSON.stringify(reach.url)}`]
      : [
          `command = ${JSON.stringify(reach.command)}`,
          `args = ${JSON.stringify(reach.args)}`,
          `cwd = ${JSON.stringify(reach.cwd)}`,
          "[mcp_servers.kitbag.env]",
          ...Object.entries(reach.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
        ];
  return [
    'model = "scripted"',
    'model_provider = "scripted"',
    'approval_policy = "never"',
    // What it would run is said by the script, and is no command.
    'sandbox_mode = "danger-full-access"',
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = "http://127.0.0.1:${port}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    "request_max_retries = 0",
    "stream_max_retries = 0",
    "[mcp_servers.kitbag]",
    "required = true",
    "startup_timeout_sec = 30",
    ...server,
  ].join("\n");
}
