import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { providers } from "../providers.ts";
import { namespaceOf } from "../shims/to-v3-prompt.ts";
import { describeFailure, type ProviderFailure, toReason } from "./describe-failure.ts";

/** The codes of what can go wrong while a model is asked. */
export type ModelErrorCode =
  | "model-context-exceeded"
  | "model-denied"
  | "model-failed"
  | "model-overloaded"
  | "model-refused"
  | "model-timeout"
  | "model-unavailable";

/** Something that went wrong while a model was asked. */
export type ModelError = KitbagError<ModelErrorCode>;

const codes: ReadonlySet<string> = new Set<ModelErrorCode>([
  "model-context-exceeded",
  "model-denied",
  "model-failed",
  "model-overloaded",
  "model-refused",
  "model-timeout",
  "model-unavailable",
]);

/** Tells whether a text is the code of something that can go wrong while a model is asked. */
export function isModelErrorCode(value: unknown): value is ModelErrorCode {
  return typeof value === "string" && codes.has(value);
}

/** Tells whether a model failed, in one of the ways that are known. */
export function isModelError(value: unknown): value is ModelError {
  return isKitbagError(value) && isModelErrorCode(value.code);
}

/** Failures after which asking the same again does not help, though others of their code would. */
const hopeless = new WeakSet<Error>();

/** Says that asking again was tried, or makes no sense. */
export function giveUp<Failure extends Error>(error: Failure): Failure {
  hopeless.add(error);
  return error;
}

/** Tells whether the same question may be answered if it is asked again. */
export function isWorthRetrying(error: ModelError): boolean {
  if (hopeless.has(error)) return false;
  return error.code === "model-overloaded" || error.code === "model-unavailable" || error.code === "model-timeout";
}

const refusals: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  "model-context-exceeded",
  "model-denied",
  "model-overloaded",
  "model-refused",
]);

/** Tells whether a provider said no before it did anything: then it charges nothing. */
export function isRefusal({ code, details }: ModelError): boolean {
  return refusals.has(code) || ("status" in details && details.status !== undefined);
}

/** How long the provider asked to be left alone, if it did. */
export function retryAfterOf({ details }: ModelError): number | undefined {
  return "retryAfterMs" in details ? details.retryAfterMs : undefined;
}

/** How a model is called in messages: `openai/gpt-6-sol`. */
export function nameOf({ provider, modelId }: { readonly provider: string; readonly modelId: string }): string {
  return `${namespaceOf(provider)}/${modelId}`;
}

interface Asked {
  readonly provider: string;
  readonly modelId: string;
}

/**
 * Says in our words what a model's provider threw, or sent as an error. No body, no header and no prompt is in it; what the
 * provider says is shortened and redacted. Errors that are ours already stay as they are.
 */
export function toModelError(model: Asked, thrown: unknown, now: number = Date.now()): KitbagError {
  if (isKitbagError(thrown)) return thrown;
  const failure = describeFailure(thrown);
  const error = classify(model, failure, now);
  // The stack says where it happened; the error itself holds the prompt and the headers.
  if (thrown instanceof Error && error.code === "model-failed") error.cause = slimCause(thrown);
  return error;
}

function slimCause(thrown: Error): Error {
  const slim = new Error(toReason(thrown.message));
  slim.name = thrown.name;
  const frames = String(thrown.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /u.test(line));
  slim.stack = [`${slim.name}: ${slim.message}`, ...frames].join("\n");
  return slim;
}

function classify(asked: Asked, failure: ProviderFailure, now: number): KitbagError<ModelErrorCode> {
  const { status } = failure;
  const model = nameOf(asked);
  const facts = {
    model,
    reason: toReason(failure.text) || "it does not say why",
    ...(status !== undefined && { status }),
  };
  switch (kindOf(failure)) {
    case "context":
      return new KitbagError("model-context-exceeded", facts);
    case "denied":
      // Some providers repeat a part of the key.
      return new KitbagError("model-denied", {
        ...facts,
        reason: status === 403 ? facts.reason : "wrong key, or none",
        cure: keyCure(asked.provider),
      });
    case "quota":
      return giveUp(new KitbagError("model-overloaded", facts));
    case "overloaded":
      return heed(failure, new KitbagError("model-overloaded", { ...facts, ...whenToAsk(failure, now) }));
    case "unavailable":
      return heed(failure, new KitbagError("model-unavailable", { ...facts, ...whenToAsk(failure, now) }));
    case "refused":
      return new KitbagError("model-refused", { ...facts, cure: refusalCure(asked, failure) });
    case "failed":
      return new KitbagError("model-failed", facts);
  }
}

function whenToAsk({ headers, body }: ProviderFailure, now: number): { readonly retryAfterMs?: number } {
  const retryAfterMs = readRetryAfter(headers, body, now);
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** A provider may say that it will not answer however often it is asked. */
function heed<Failure extends Error>({ headers }: ProviderFailure, error: Failure): Failure {
  return findHeader(headers, "x-should-retry") === "false" ? giveUp(error) : error;
}

type Kind = "context" | "denied" | "failed" | "overloaded" | "quota" | "refused" | "unavailable";

/** How providers say that a prompt is too long. */
const tooLong =
  /context[ _]?(?:length|window|size)|prompt is too long|input is too long|too many (?:input )?tokens|maximum (?:number of )?(?:context|tokens)|token count .{0,40}exceeds|exceeds? .{0,40}(?:context|token limit)|reduce the length/iu;

const connectionWords: ReadonlySet<string> = new Set(
  (
    "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN AbortError TimeoutError " +
    "UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_SOCKET AI_EmptyResponseBodyError api_error " +
    "server_error internal_server_error timeout_error INTERNAL UNAVAILABLE DEADLINE_EXCEEDED"
  ).split(" "),
);
const overloadWords: ReadonlySet<string> = new Set(
  "overloaded_error rate_limit_error rate_limit_exceeded slow_down RESOURCE_EXHAUSTED engine_overloaded".split(" "),
);
const refusalWords: ReadonlySet<string> = new Set(
  "invalid_request_error invalid_prompt INVALID_ARGUMENT AI_UnsupportedFunctionalityError AI_InvalidPromptError AI_InvalidArgumentError AI_NoSuchModelError AI_NoSuchProviderReferenceError".split(
    " ",
  ),
);
const keyWords: ReadonlySet<string> = new Set(
  "AI_LoadAPIKeyError authentication_error invalid_api_key permission_error".split(" "),
);

function kindOf(failure: ProviderFailure): Kind {
  const { status, words, text } = failure;
  const isQuestion = status === undefined || status === 400 || status === 422 || status < 400;
  if (status === 413 || words.has("context_length_exceeded") || (isQuestion && tooLong.test(text))) return "context";
  if (status === 402 || words.has("insufficient_quota") || words.has("billing_error")) return "quota";
  return status !== undefined && status >= 400 ? kindOfStatus(status) : kindOfWords(failure);
}

function kindOfStatus(status: number): Kind {
  if (status === 401 || status === 403) return "denied";
  if (status === 429 || status === 503 || status === 529) return "overloaded";
  if (status === 408 || status === 409 || status === 425 || status >= 500) return "unavailable";
  return "refused";
}

/** How it is said that a connection, or an answer, ended too early. */
const broken = /^(?:fetch failed|terminated|network error|other side closed|premature close)$|\bstream ended\b/iu;

function kindOfWords({ words, text, isRetryable }: ProviderFailure): Kind {
  if (!words.isDisjointFrom(overloadWords)) return "overloaded";
  if (!words.isDisjointFrom(keyWords)) return "denied";
  if (!words.isDisjointFrom(connectionWords)) return "unavailable";
  if (!words.isDisjointFrom(refusalWords)) return "refused";
  if (isRetryable === true || broken.test(text)) return "unavailable";
  return "failed";
}

function keyCure(provider: string): string {
  const [variable] = providers.get(namespaceOf(provider))?.keys ?? [];
  return variable === undefined
    ? "check the key of this provider, and that it may use this model"
    : `check ${variable} or the "apiKey" that was passed, and that the key may use this model`;
}

/** What to do about a model that its provider does not have. */
export const missingModel = "check the name of the model";

function refusalCure({ provider, modelId }: Asked, { status, text }: ProviderFailure): string {
  if (status !== 404 && !/model.{0,80}(?:not (?:found|exist)|does not exist)/iu.test(text))
    return "change the question";
  return namespaceOf(provider) === "ollama" ? `run: ollama pull ${modelId}` : missingModel;
}

/** Headers, or what stands for them. */
type AnswerHeaders = Readonly<Record<string, string | undefined>>;

/**
 * How long a provider asks to be left alone: `retry-after-ms`, `retry-after` in seconds or as a date, or the delay that Google
 * writes into the body. `undefined` if it says nothing that can be understood.
 */
function readRetryAfter(headers: AnswerHeaders, body: string, now: number): number | undefined {
  const after = findHeader(headers, "retry-after");
  return (
    toMs(findHeader(headers, "retry-after-ms"), 1) ??
    toMs(after, 1000) ??
    untilDate(after, now) ??
    toMs(/"retryDelay"\s*:\s*"([\d.]{1,20})s"/u.exec(body)?.[1], 1000)
  );
}

function untilDate(text: string | undefined, now: number): number | undefined {
  const date = text === undefined || !/[a-z]/iu.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function toMs(text: string | undefined, factor: number): number | undefined {
  if (text === undefined || !/^\s*\d{1,12}(?:\.\d{1,12})?\s*$/u.test(text)) return undefined;
  return Number(text) * factor;
}

/** The header of this name, however it is written. */
function findHeader(headers: AnswerHeaders, name: string): string | undefined {
  for (const key of Object.keys(headers)) if (key.toLowerCase() === name) return String(headers[key]);
  return undefined;
}
