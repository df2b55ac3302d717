import {
  type AskServer,
  known,
  type LocalServer,
  readMetric,
  type ServerModel,
  toCount,
  toFacts,
  toRows,
  toWord,
} from "./server-model.ts";

type Row = Readonly<Record<string, unknown>>;

/** The server of llama.cpp: `/v1/models` and `/props`; `/health` answers 503 while a model is loaded. */
export const llamaCpp: LocalServer = {
  title: "llama.cpp",
  holdsRequests: false,
  growsContext: false,
  async list(ask) {
    const rows = toRows(toFacts((await ask("/v1/models"))?.body)["data"]);
    if (rows === undefined) return undefined;
    const models = await Promise.all(rows.map((row) => toModel(ask, row)));
    return models.filter((model) => model !== undefined);
  },
  async find(ask, name) {
    const health = await ask("/health");
    if (health?.status === 503) return { name, isLoaded: false };
    const rows = toRows(toFacts((await ask("/v1/models"))?.body)["data"]) ?? [];
    // A server with one model answers with it, whatever it is called in a request.
    const row = rows.find(({ id }) => id === name) ?? (rows.length === 1 ? rows[0] : undefined);
    const model = row && (await toModel(ask, row));
    return model && { ...model, name };
  },
  async use(ask) {
    const page = (await ask("/metrics"))?.body;
    if (typeof page !== "string") return undefined;
    return known({
      running: readMetric(page, "llamacpp:requests_processing"),
      waiting: readMetric(page, "llamacpp:requests_deferred"),
      cacheShare: readMetric(page, "llamacpp:kv_cache_usage_ratio"),
    });
  },
};

async function toModel(ask: AskServer, row: Row): Promise<ServerModel | undefined> {
  const name = toWord(row["id"]);
  if (name === undefined) return undefined;
  // Only a server with several models says which of them is loaded.
  const state = toWord(toFacts(row["status"])["value"]);
  const isLoaded = state === undefined || state === "loaded";
  const query = state === undefined ? "" : `?model=${encodeURIComponent(name)}&autoload=false`;
  const props = isLoaded ? toFacts((await ask(`/props${query}`))?.body) : {};
  const meta = toFacts(row["meta"]);
  const template = toFacts(props["chat_template_caps"]);
  const { vision } = toFacts(props["modalities"]);
  return known<ServerModel>({
    name,
    sizeBytes: toCount(meta["size"]),
    parameters: toCount(meta["n_params"]),
    quantization: toWord(props["model_ftype"]) ?? findQuantization(toWord(props["model_path"]) ?? name),
    // Of one slot: a server that answers several requests at once has given each a share.
    contextInUse: toCount(toFacts(props["default_generation_settings"])["n_ctx"]) ?? toCount(meta["n_ctx"]),
    contextMax: toCount(meta["n_ctx_train"]),
    tools: typeof template["supports_tools"] === "boolean" ? template["supports_tools"] : undefined,
    vision: typeof vision === "boolean" ? vision : undefined,
    isLoaded: isLoaded && props["is_sleeping"] !== true,
  });
}

/** How the weights are rounded, as the names of files say: `qwen3-8b-Q4_K_M.gguf`. */
export function findQuantization(path: string): string | undefined {
  return /(?:^|[^a-z\d])((?:I?Q\d(?:_[A-Z\d]+)*|BF16|F16|F32|MXFP4))(?=$|[^A-Z\d_])/iu.exec(path)?.[1]?.toUpperCase();
}
