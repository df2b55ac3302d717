/** Labels of a series. Their values may be any text. */
export type Labels = Readonly<Record<string, string>>;

/** What is measured under one name. */
export interface Metric {
  /** Letters and `_`; a counter's ends with `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

/** One series of a metric: a number, or the times of a histogram. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number | HistogramValue;
}

/** How long things took, in seconds. */
export interface HistogramValue {
  /** How many took at most `le`; each includes those before it. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly sum: number;
  readonly count: number;
}

/** The media type of the text. */
export const prometheusType = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics as Prometheus reads them. A metric without a series is left out. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.flatMap(({ labels = {}, value }) =>
        typeof value === "number" ? [line(name, labels, value)] : toLines(name, labels, value),
      );
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    })
    .join("");
}

function toLines(name: string, labels: Labels, { buckets, sum, count }: HistogramValue): string[] {
  return [
    ...buckets.map((bucket) => line(`${name}_bucket`, { ...labels, le: String(bucket.le) }, bucket.count)),
    line(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
}

/** Names of tools and users come from outside: they must not end their line, nor be longer than a name is. */
function escape(text: string): string {
  const short = text.length > longestLabel ? `${text.slice(0, longestLabel)}…` : text;
  return short.toWellFormed().replaceAll(/[\\"\n]/gu, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

const longestLabel = 200;
