/** What a provider says when it does not answer. */
export interface ProviderErrorFacts {
  /** Of HTTP: 429 for a rate limit, 529 or 503 for too much work, 401 for a wrong key. */
  readonly status: number;
  /** How long to wait before asking again. */
  readonly retryAfterMs?: number;
  readonly message?: string;
}

/**
 * Makes an error as the packages of providers throw it when a server answers with a status outside of 2xx.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createAgent } from "kitbag/agent";
 * import { mockModel, providerError } from "kitbag/testing";
 *
 * const model = mockModel([{ error: providerError({ status: 429, retryAfterMs: 5 }) }, "Hello"]);
 * const { text } = await createAgent({ model, workspace: createWorkspace() }).run("Hello");
 * console.assert(text === "Hello" && model.asked.length === 2);
 * ```
 */
export function providerError({
  status,
  retryAfterMs,
  message = words.get(status) ?? "failed",
}: ProviderErrorFacts): Error {
  const error = new Error(message);
  error.name = "AI_APICallError";
  return Object.assign(error, {
    statusCode: status,
    isRetryable: status === 408 || status === 409 || status === 429 || status >= 500,
    responseHeaders: retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) },
    responseBody: JSON.stringify({ error: { message } }),
    data: { error: { message } },
  });
}

const words: ReadonlyMap<number, string> = new Map([
  [400, "the request is invalid"],
  [401, "the key is wrong"],
  [403, "the key may not do this"],
  [404, "there is no such model"],
  [429, "the rate limit is reached"],
  [500, "internal error"],
  [503, "too much work"],
  [529, "too much work"],
]);
