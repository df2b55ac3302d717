import { hasScope } from "../../core/scopes.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { RequestEnd, Route } from "../gate.ts";
import { counter, gauge, toCallMetrics } from "./call-metrics.ts";
import { prometheusType, renderMetrics, type Metric, type Sample } from "./prometheus.ts";

/** What is measured. */
interface MetricsParts {
  readonly workspace: Pick<Workspace, "stats">;
  /** How many sessions of users are open. */
  readonly countSessions: () => number;
}

/** What a model answered. */
export interface ModelAnswer {
  /** `provider/model`. */
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars; absent if the price is unknown. */
  readonly costUsd?: number;
}

/** `/metrics` as a route of a gate, and what it counts itself. */
export interface MetricsRoute extends Route {
  addRequest(end: RequestEnd): void;
  addAnswer(answer: ModelAnswer): void;
}

/** The scope that lets a caller read what all users did. */
const scope = "service";

/** Methods and models beyond these are counted together. */
const methods = new Set(["GET", "HEAD", "POST", "DELETE", "OPTIONS"]);
const mostModels = 100;
const others = "(others)";

/** Makes the route of the metrics. Calls are counted by the workspace; requests and answers of models are counted here. */
export function createMetricsRoute({ workspace, countSessions }: MetricsParts): MetricsRoute {
  const requests = createCounts(["method", "path", "status"]);
  const seconds = createCounts(["method", "path"]);
  const tokens = createCounts(["model", "kind"]);
  const dollars = createCounts(["model"]);
  const models = new Set<string>();

  function toModel(model: string): string {
    if (models.size < mostModels) models.add(model);
    return models.has(model) ? model : others;
  }

  const collect = (): readonly Metric[] => [
    ...toCallMetrics(workspace.stats({ steps: true })),
    counter("http_requests_total", "Requests whose answer is over.", requests.samples()),
    counter("http_request_seconds_total", "How long all of them took together.", seconds.samples()),
    counter("model_tokens_total", "Tokens of models that agents asked.", tokens.samples()),
    counter(
      "model_cost_dollars_total",
      "What their answers cost in US dollars, where the price is known.",
      dollars.samples(),
    ),
    gauge("sessions", "Sessions of users that are open.", countSessions()),
    gauge("memory_bytes", "Memory of the process.", process.memoryUsage.rss()),
    counter("cpu_seconds_total", "CPU time of the process.", [{ value: readCpuSeconds() }]),
  ];

  return {
    path: "/metrics",
    handle(request) {
      const { incoming, response, caller } = request;
      if (!hasScope(caller.scopes, scope)) return request.refuseScope([scope]);
      if (incoming.method !== "GET" && incoming.method !== "HEAD")
        return void response.writeHead(405, { allow: "GET, HEAD" }).end();
      const text = renderMetrics(collect());
      response
        .writeHead(200, { "content-type": prometheusType, "content-length": Buffer.byteLength(text) })
        .end(incoming.method === "HEAD" ? undefined : text);
    },
    addRequest({ method, path, status, durationMs }) {
      const known = methods.has(method) ? method : others;
      requests.add([known, path, String(status)], 1);
      seconds.add([known, path], durationMs / 1000);
    },
    addAnswer({ model, inputTokens, outputTokens, costUsd }) {
      const name = toModel(model);
      tokens.add([name, "input"], inputTokens);
      tokens.add([name, "output"], outputTokens);
      if (costUsd !== undefined) dollars.add([name], costUsd);
    },
  };
}

function readCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

interface Counts {
  add(values: readonly string[], by: number): void;
  samples(): readonly Sample[];
}

/** Counts by the values of these labels. */
function createCounts(names: readonly string[]): Counts {
  const counts = new Map<string, { readonly labels: Record<string, string>; value: number }>();
  return {
    add(values, by) {
      const key = values.join("\n");
      const found = counts.get(key);
      if (found !== undefined) found.value += by;
      else
        counts.set(key, {
          labels: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])),
          value: by,
        });
    },
    samples: () => [...counts.values()].map(({ labels, value }) => ({ labels, value })),
  };
}
