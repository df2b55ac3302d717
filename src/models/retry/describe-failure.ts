import { isObject } from "../../core/json.ts";
import { redactText } from "../../core/redaction/redact.ts";

/** What is known of something that a provider threw or sent, whatever it is. */
export interface ProviderFailure {
  readonly status: number | undefined;
  /** Short words of the provider or of the system: `overloaded_error`, `insufficient_quota`, `ECONNREFUSED`. */
  readonly words: ReadonlySet<string>;
  /** What it says, for reading only: it may hold anything. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** What the provider's package says about asking again. */
  readonly isRetryable: boolean | undefined;
}

/** How deep causes and errors inside errors are read. */
const deepest = 5;

/** Looks at an error of a provider's package, at an error that came in a stream, or at anything else. Never throws. */
export function describeFailure(thrown: unknown): ProviderFailure {
  const failure = {
    status: undefined as number | undefined,
    words: new Set<string>(),
    text: "",
    headers: {},
    body: "",
    isRetryable: undefined as boolean | undefined,
  };
  let value: unknown = thrown;
  for (let depth = 0; depth < deepest && value !== undefined && value !== null; depth++) {
    try {
      value = look(value, failure);
    } catch {
      // The thrown value may be anything, also an object whose properties throw when they are read.
      break;
    }
  }
  return failure;
}

type Found = { -readonly [Name in keyof ProviderFailure]: ProviderFailure[Name] } & { readonly words: Set<string> };

/** Takes from one error what is new, and answers with the error inside. */
function look(value: unknown, found: Found): unknown {
  if (typeof value === "string") found.text ||= value;
  if (typeof value !== "object" || value === null) return undefined;
  const error = value as Readonly<Record<string, unknown>>;
  found.status ??= toStatus(error["statusCode"]) ?? toStatus(error["status"]) ?? toStatus(error["code"]);
  for (const name of ["code", "type", "status", "name"]) addWord(found.words, error[name]);
  found.text ||= textOf(error["message"]);
  lookAtRequest(error, found);
  const { data } = error;
  if (isObject(data)) look(("error" in data ? data.error : undefined) ?? data, found);
  return error["error"] ?? error["cause"];
}

/** What the packages of the AI SDK put into the error of a request. */
function lookAtRequest(
  { responseBody, responseHeaders, isRetryable }: Readonly<Record<string, unknown>>,
  found: Found,
): void {
  found.body ||= textOf(responseBody);
  if (isObject(responseHeaders)) found.headers = responseHeaders as ProviderFailure["headers"];
  if (typeof isRetryable === "boolean") found.isRetryable ??= isRetryable;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toStatus(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 100 && value <= 599 ? value : undefined;
}

function addWord(words: Set<string>, value: unknown): void {
  if (typeof value === "string" && value.length <= 64) words.add(value);
}

const longestReason = 300;

/** What a message may repeat of a provider's words: one line, short, without what looks like a secret. */
export function toReason(text: string): string {
  const line = redactText(text.slice(0, 4000))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Z}]+/gu, " ")
    .trim();
  const short = line.length > longestReason ? `${line.slice(0, longestReason)}…` : line;
  return short.replace(/[.!\s]+$/u, "");
}
