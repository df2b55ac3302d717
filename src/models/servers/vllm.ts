import {
  known,
  type LocalServer,
  readMetric,
  type ServerModel,
  toCount,
  toFacts,
  toRows,
  toWord,
} from "./server-model.ts";

/**
 * vLLM: `/v1/models` and `/metrics`. It loads its model before it answers, and does not say whether its models call tools, which needs
 * `--enable-auto-tool-choice`, or how their weights are rounded.
 */
export const vllm: LocalServer = {
  title: "vLLM",
  holdsRequests: true,
  growsContext: false,
  async list(ask) {
    const rows = toRows(toFacts((await ask("/v1/models"))?.body)["data"]);
    return rows?.flatMap((row) => {
      const name = toWord(row["id"]);
      if (name === undefined) return [];
      return [known<ServerModel>({ name, contextInUse: toCount(row["max_model_len"]), isLoaded: true })];
    });
  },
  async find(ask, name) {
    return (await vllm.list(ask))?.find((model) => model.name === name);
  },
  async use(ask) {
    const page = (await ask("/metrics"))?.body;
    if (typeof page !== "string") return undefined;
    return known({
      running: readMetric(page, "vllm:num_requests_running"),
      waiting: readMetric(page, "vllm:num_requests_waiting"),
      cacheShare: readMetric(page, "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    });
  },
};
