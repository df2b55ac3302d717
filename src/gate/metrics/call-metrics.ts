import type { CallFigures, LiveStats, TimeStats } from "../../records/stats/call-stats.ts";
import type { HistogramValue, Metric, Sample } from "./prometheus.ts";

/** The metrics of the calls of a workspace, which has counted them. Its tally bounds how many tools, users and codes there are. */
export function toCallMetrics({ total, tools, users = [], running, waiting }: LiveStats): readonly Metric[] {
  const byTool = (read: (figures: CallFigures) => Sample["value"]): readonly Sample[] =>
    tools.map(({ tool, ...figures }) => ({ labels: { tool }, value: read(figures) }));
  const byUser = (read: (figures: CallFigures) => number): readonly Sample[] =>
    users.map(({ user, ...figures }) => ({ labels: { user }, value: read(figures) }));

  return [
    counter(
      "calls_total",
      "Calls that are over, nested ones too.",
      byTool(({ calls }) => calls),
    ),
    counter(
      "call_errors_total",
      "Calls that failed.",
      byTool(({ errors }) => errors),
    ),
    counter(
      "calls_recalled_total",
      "Calls answered without running the tool.",
      byTool(({ recalled }) => recalled),
    ),
    counter(
      "call_failures_total",
      "Calls that failed, by the code of the error.",
      total.codes.map(({ code, count }) => ({ labels: { code }, value: count })),
    ),
    histogram("call_duration_seconds", "How long calls took, with waiting and nested calls.", byTool(toDuration)),
    histogram("call_queue_seconds", "How long calls waited for a place or a limit; only those that did.", [
      { value: toHistogram(total.queue, total.queue.calls) },
    ]),
    counter(
      "call_cost_dollars_total",
      "What tools say that they paid, in US dollars.",
      byTool(({ costUsd }) => costUsd),
    ),
    counter(
      "user_calls_total",
      "Calls of each user that are over.",
      byUser(({ calls }) => calls),
    ),
    counter(
      "user_call_errors_total",
      "Calls of each user that failed.",
      byUser(({ errors }) => errors),
    ),
    gauge("calls_running", "Calls that run now.", running),
    gauge("calls_waiting", "Calls that wait for a place or a limit now.", waiting),
  ];
}

function toDuration({ time, calls }: CallFigures): HistogramValue {
  return toHistogram(time, calls);
}

function toHistogram({ steps = [], meanMs }: TimeStats, count: number): HistogramValue {
  const buckets = steps.map((step) => ({ le: step.ms / 1000, count: step.count }));
  return { buckets, sum: (meanMs * count) / 1000, count };
}

/** A metric that only grows. */
export function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `kitbag_${name}`, help, type: "counter", samples };
}

/** A metric that is a state of now. */
export function gauge(name: string, help: string, value: number): Metric {
  return { name: `kitbag_${name}`, help, type: "gauge", samples: [{ value }] };
}

function histogram(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `kitbag_${name}`, help, type: "histogram", samples };
}
