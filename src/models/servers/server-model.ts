import { isRecord } from "../../core/json.ts";

/** What a server on a machine of your own says about one of its models. A field that is missing was not said. */
export interface ServerModel {
  /** As `resolveModel` takes it behind the name of the provider: `qwen3:8b`. */
  readonly name: string;
  /** On disk. */
  readonly sizeBytes?: number;
  /** How many weights it has. */
  readonly parameters?: number;
  /** How its weights are rounded: `Q4_K_M`, `Q8_0`, `F16`, `4bit`. */
  readonly quantization?: string;
  /** How many tokens one request may have now, with its answer. Known only while the model is loaded. */
  readonly contextInUse?: number;
  /** How many tokens the model was made for. */
  readonly contextMax?: number;
  readonly tools?: boolean;
  readonly vision?: boolean;
  readonly thinking?: boolean;
  readonly isLoaded?: boolean;
  /** From 0 to 1: how much of a loaded model lies in the memory of the graphics card. */
  readonly vramShare?: number;
  /** When the server takes it out of memory if it is not used, in milliseconds since 1970. */
  readonly unloadsAt?: number;
}

/** What a server answered; `body` is JSON, or text that is not. */
export interface ServerReply {
  readonly status: number;
  readonly body: unknown;
}

/** Asks a server at a path, with `POST` if there is a body; `undefined` if it does not answer in time, or with too much. */
export type AskServer = (path: string, body?: Readonly<Record<string, unknown>>) => Promise<ServerReply | undefined>;

/** How busy a server is. */
export interface ServerUse {
  readonly running?: number;
  readonly waiting?: number;
  /** From 0 to 1: how much of the memory for conversations is in use. */
  readonly cacheShare?: number;
}

/** How a kind of server is asked what it has. Nothing here throws, whatever the server answers. */
export interface LocalServer {
  /** As its makers call it. */
  readonly title: string;
  /** Whether a request waits while a model is loaded. Others refuse requests until then. */
  readonly holdsRequests: boolean;
  /** Whether the model can be loaded with another context for a request (`num_ctx`). */
  readonly growsContext: boolean;
  /** The models that chat; `undefined` if this server is not there, or is of another kind. */
  list(ask: AskServer): Promise<readonly ServerModel[] | undefined>;
  /** One model, with all that can be found out; `undefined` if the server does not know it. */
  find(ask: AskServer, name: string): Promise<ServerModel | undefined>;
  use?(ask: AskServer): Promise<ServerUse | undefined>;
}

/** Reads an object; anything else is empty. */
export function toFacts(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The most models of a server that are looked at: a server may answer anything. */
const mostModels = 500;

/** Reads a list of objects; anything else is no list. */
export function toRows(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  return Array.isArray(value) ? value.slice(0, mostModels).filter(isRecord) : undefined;
}

/** Reads a short text. */
export function toWord(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= 512 ? value : undefined;
}

/** Reads a number above 0 that can be a number of tokens, bytes or weights. */
export function toCount(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && value < 1e16 ? Math.round(value) : undefined;
}

const scales: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };

/** Reads how many weights a model has: `8.0B`, `137M`, `35B-A3B` (35 of which 3 work for each token). */
export function toParameters(value: unknown): number | undefined {
  const [, number, scale = ""] = /^\s*(\d{1,6}(?:\.\d{1,6})?)\s*([KMBT])/iu.exec(toWord(value) ?? "") ?? [];
  return number === undefined ? toCount(value) : toCount(Number(number) * (scales[scale.toUpperCase()] ?? 1));
}

/** The object without fields that are `undefined`. */
export function known<Value extends object>(value: {
  readonly [Name in keyof Value]: Value[Name] | undefined;
}): Value {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Value;
}

/** Reads a number of a page of metrics: the sum over its labels. */
export function readMetric(page: string, ...names: readonly string[]): number | undefined {
  let sum: number | undefined;
  for (const line of page.split("\n")) {
    const [, name = "", value] = /^([\w:]+)(?:\{[^}]*\})?\s+([\d.eE+-]+)/u.exec(line) ?? [];
    if (value !== undefined && names.includes(name)) sum = (sum ?? 0) + Number(value);
  }
  return Number.isFinite(sum) ? sum : undefined;
}
