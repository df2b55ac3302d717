import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import type { ScriptedAnswer } from "./model-server-answer.ts";
import { ollama } from "./model-server-ollama.ts";
import { openaiCompatible } from "./model-server-openai-chat.ts";
import { createRandom, sendAnswer } from "./model-server-send.ts";
import { toObject, type RequestContent, type Wire } from "./model-server-wire.ts";

/** A model on a {@link LocalModelServer}. Tests change it while the server runs. */
export interface LocalModel {
  readonly name: string;
  readonly sizeBytes?: number;
  readonly parameters?: string;
  readonly quantization?: string;
  readonly contextMax?: number;
  /** What one request may have, in truth. */
  context: number;
  /** What the server says that it may have, if that is a lie. */
  readonly saidContext?: number;
  readonly tools?: boolean;
  readonly vision?: boolean;
  isLoaded?: boolean;
  readonly vramShare?: number;
  /** A request for a model that is not loaded waits for this. */
  load?: Promise<void>;
}

/** Which server it is. */
export type LocalKind = "llamacpp" | "lmstudio" | "ollama" | "vllm";

/** A server of one's own, as a test sees it. */
export interface LocalModelServer {
  /** For the environment or `baseUrl`. */
  readonly url: string;
  /** Questions to models, in order: also those that were refused. */
  readonly requests: readonly (RequestContent & { readonly body: Wire })[];
  /** What it was asked about itself: `GET /api/ps`. */
  readonly asked: readonly string[];
  readonly close: () => Promise<void>;
}

/** How it behaves. */
export interface LocalServerOptions {
  readonly script?: (request: RequestContent) => ScriptedAnswer;
  /** Ollama before 0.12.6 knows neither `truncate` nor `shift`, and cuts. */
  readonly isOld?: boolean;
  /** vLLM was started with `--enable-auto-tool-choice`. @default false */
  readonly hasToolParser?: boolean;
  /** What it answers at a path instead. */
  readonly replies?: Readonly<Record<string, string>>;
}

/** Starts a server that speaks the endpoints of one of the local servers, and cuts, refuses and loads as that does. */
export async function startLocalServer(
  kind: LocalKind,
  models: readonly LocalModel[],
  options: LocalServerOptions = {},
): Promise<LocalModelServer> {
  const requests: (RequestContent & { body: Wire })[] = [];
  const asked: string[] = [];
  const serving = { kind, models, options, requests, asked };
  const server = createServer((incoming, response) => {
    response.on("error", () => {});
    serve(serving, incoming, response).catch((cause: unknown) => response.destroy(cause as Error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: kind === "ollama" ? root : `${root}/v1`,
    requests,
    asked,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Serving {
  readonly kind: LocalKind;
  readonly models: readonly LocalModel[];
  readonly options: LocalServerOptions;
  readonly requests: (RequestContent & { readonly body: Wire })[];
  readonly asked: string[];
}

async function serve(
  { kind, models, options, requests, asked }: Serving,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { script = () => ({ text: "Hello." }) } = options;
  const dialect = kind === "ollama" ? ollama : openaiCompatible;
  const path = incoming.url ?? "";
  const sent = await text(incoming);
  const body = sent === "" ? {} : toObject(JSON.parse(sent));
  const isChat = path === "/api/chat" || path === "/v1/chat/completions";
  if (!isChat) {
    asked.push(`${incoming.method} ${path}`);
    const given = options.replies?.[path];
    return given === undefined ? sendJson(response, ...facts[kind](path, body, models)) : void response.end(given);
  }
  const request = dialect.readRequest(body, path);
  requests.push({ ...request, body });
  const model = models.find(({ name }) => name === request.model) ?? models[0];
  if (model === undefined) return sendJson(response, ...notFound);
  if (kind === "llamacpp" && model.isLoaded === false) {
    return sendJson(response, 503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } });
  }
  await loadFor(model, body);
  const refusal = findRefusal[kind]({ model, request, body, options });
  if (refusal !== undefined) return sendJson(response, ...refusal);
  const input = Math.min(countTokens(body), model.context);
  const reply = script(request);
  await sendAnswer(response, dialect, request, {
    reply: { usage: { input, output: 5 }, ...reply },
    random: createRandom(1),
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
}

/** Ollama loads a model with the context that a request asks for. */
async function loadFor(model: LocalModel, body: Wire): Promise<void> {
  const wanted = toObject(body["options"])["num_ctx"];
  const isNew = typeof wanted === "number" && wanted !== model.context;
  if (isNew) model.isLoaded = false;
  if (model.isLoaded === false) await model.load;
  if (isNew && model.saidContext === undefined) model.context = wanted;
  model.isLoaded = true;
}

/** As a server with another vocabulary counts: near our estimate, and never the same. */
function countTokens(body: Wire): number {
  return Math.round(JSON.stringify({ messages: body["messages"], tools: body["tools"] }).length / 4.2);
}

type Refusal = readonly [status: number, body: unknown];

interface Asked {
  readonly model: LocalModel;
  readonly request: RequestContent;
  readonly body: Wire;
  readonly options: LocalServerOptions;
}

/** What each server refuses, in its own words. */
const findRefusal: Readonly<Record<LocalKind, (asked: Asked) => Refusal | undefined>> = {
  ollama({ model, request, body, options }) {
    if (request.tools.length > 0 && model.tools === false) {
      return [400, { error: `registry.ollama.ai/library/${model.name} does not support tools` }];
    }
    const isKnown = options.isOld !== true && body["truncate"] === false;
    if (!isKnown || countTokens(body) <= model.context) return undefined;
    return [400, { error: JSON.stringify({ error: toTooLong(model, body) }) }];
  },
  llamacpp: ({ model, body }) =>
    countTokens(body) > model.context ? [400, { error: toTooLong(model, body) }] : undefined,
  vllm({ model, request, body, options }) {
    const bad = { type: "BadRequestError", code: 400 };
    const message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    // Earlier versions did not put it into an object.
    if (request.tools.length > 0 && options.hasToolParser !== true) return [400, { object: "error", message, ...bad }];
    const tokens = countTokens(body);
    const long = `This model's maximum context length is ${model.context} tokens. However, you requested ${tokens} tokens`;
    return tokens > model.context ? [400, { error: { message: long, ...bad } }] : undefined;
  },
  lmstudio: () => undefined,
};

function toTooLong(model: LocalModel, body: Wire): Wire {
  const tokens = countTokens(body);
  const message = `request (${tokens} tokens) exceeds the available context size (${model.context} tokens), try increasing it`;
  return { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: tokens, n_ctx: model.context };
}

type Facts = (path: string, body: Wire, models: readonly LocalModel[]) => Refusal;

const notFound: Refusal = [404, { error: "not found" }];

const facts: Readonly<Record<LocalKind, Facts>> = {
  ollama(path, body, models) {
    if (path === "/api/version") return [200, { version: "0.40.2" }];
    if (path === "/api/tags") return [200, { models: models.map(toTag) }];
    if (path === "/api/ps") return [200, { models: models.filter(({ isLoaded }) => isLoaded === true).map(toRunning) }];
    const model = models.find(({ name }) => name === body["model"]);
    if (path !== "/api/show") return notFound;
    return model === undefined ? [404, { error: `model '${String(body["model"])}' not found` }] : [200, toShown(model)];
  },
  lmstudio(path, _body, models) {
    return path === "/api/v1/models" ? [200, { models: models.map(toStudioModel) }] : notFound;
  },
  llamacpp(path, _body, models) {
    const [model] = models;
    const isReady = model?.isLoaded !== false;
    if (path === "/health" && isReady) return [200, { status: "ok" }];
    if (!isReady) return [503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }];
    if (path === "/v1/models") return [200, { object: "list", data: models.map(toLlamaRow) }];
    if (path === "/metrics")
      return [
        200,
        "# HELP llamacpp:requests_processing x\nllamacpp:requests_processing 1\nllamacpp:requests_deferred 2\n",
      ];
    return path.startsWith("/props") && model !== undefined ? [200, toProps(model)] : notFound;
  },
  vllm(path, _body, models) {
    if (path === "/metrics") return [200, vllmMetrics];
    if (path !== "/v1/models") return notFound;
    const rows = models.map((model) => {
      const max_model_len = model.saidContext ?? model.context;
      return {
        id: model.name,
        object: "model",
        created: 1_760_000_000,
        owned_by: "vllm",
        root: model.name,
        max_model_len,
      };
    });
    return [200, { object: "list", data: rows }];
  },
};

const vllmMetrics = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="qwen3"} 3.0
vllm:num_requests_waiting{engine="0",model_name="qwen3"} 1.0
vllm:kv_cache_usage_perc{engine="0",model_name="qwen3"} 0.31
`;

function toDetails({ parameters = "8.2B", quantization = "Q4_K_M" }: LocalModel): Wire {
  return {
    parent_model: "",
    format: "gguf",
    family: "qwen3",
    families: ["qwen3"],
    parameter_size: parameters,
    quantization_level: quantization,
  };
}

function toAbilities({ tools = true, vision = false }: LocalModel): readonly string[] {
  return ["completion", ...(tools ? ["tools"] : []), ...(vision ? ["vision"] : [])];
}

function toTag(model: LocalModel): Wire {
  const { name, sizeBytes = 5_225_388_164 } = model;
  return {
    name,
    model: name,
    modified_at: "2026-10-01T10:00:00Z",
    size: sizeBytes,
    digest: "500a1f067a9f",
    details: toDetails(model),
  };
}

function toRunning(model: LocalModel): Wire {
  const { name, sizeBytes: size = 5_225_388_164, vramShare = 1, saidContext, context } = model;
  const size_vram = Math.round(size * vramShare);
  const expires_at = "2026-11-16T12:05:00.123456789Z";
  return {
    name,
    model: name,
    size,
    digest: "500a1f067a9f",
    details: toDetails(model),
    expires_at,
    size_vram,
    context_length: saidContext ?? context,
  };
}

function toShown(model: LocalModel): Wire {
  const { contextMax = 40_960 } = model;
  const model_info = { "general.architecture": "qwen3", "qwen3.context_length": contextMax, "qwen3.block_count": 36 };
  return { details: toDetails(model), model_info, capabilities: toAbilities(model) };
}

function toStudioModel(model: LocalModel): Wire {
  const { name, sizeBytes = 4_920_000_000, parameters = "8B", quantization = "Q4_K_M", contextMax = 131_072 } = model;
  const config = { context_length: model.saidContext ?? model.context, flash_attention: true };
  return {
    type: "llm",
    publisher: "qwen",
    key: name,
    display_name: name,
    architecture: "qwen3",
    quantization: { name: quantization, bits_per_weight: 4 },
    size_bytes: sizeBytes,
    params_string: parameters,
    loaded_instances: model.isLoaded === true ? [{ id: name, config }] : [],
    max_context_length: contextMax,
    format: "gguf",
    capabilities: { vision: model.vision ?? false, trained_for_tool_use: model.tools ?? true },
  };
}

function toLlamaRow({ name, contextMax = 40_960, sizeBytes = 4_920_000_000 }: LocalModel): Wire {
  const meta = {
    vocab_type: 2,
    n_vocab: 151_936,
    n_ctx_train: contextMax,
    n_embd: 4096,
    n_params: 8_190_735_360,
    size: sizeBytes,
  };
  return { id: name, object: "model", created: 1_760_000_000, owned_by: "llamacpp", meta };
}

function toProps(model: LocalModel): Wire {
  return {
    default_generation_settings: { n_ctx: model.saidContext ?? model.context, params: {} },
    total_slots: 4,
    model_path: `/models/${model.name}-${model.quantization ?? "Q4_K_M"}.gguf`,
    modalities: { vision: model.vision ?? false, audio: false },
    chat_template_caps: { supports_tools: model.tools ?? true, supports_parallel_tool_calls: true },
    is_sleeping: false,
    build_info: "b9999-1a2b3c4",
  };
}
