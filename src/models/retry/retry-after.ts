/** Headers, or what stands for them. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>;

/**
 * How long a provider asks to be left alone: `retry-after-ms`, `retry-after` in seconds or as a date, or the delay that Google
 * writes into the body. `undefined` if it says nothing that can be understood.
 */
export function readRetryAfter(headers: AnswerHeaders, body: string, now: number): number | undefined {
  const exact = toMs(find(headers, "retry-after-ms"), 1);
  if (exact !== undefined) return exact;
  const after = find(headers, "retry-after");
  const seconds = toMs(after, 1000);
  if (seconds !== undefined) return seconds;
  const date = after === undefined || !/[a-z]/iu.test(after) ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  return toMs(/"retryDelay"\s*:\s*"([\d.]{1,12})s"/u.exec(body)?.[1], 1000);
}

function toMs(text: string | undefined, factor: number): number | undefined {
  if (text === undefined || !/^\s*\d{1,12}(?:\.\d{1,12})?\s*$/u.test(text)) return undefined;
  return Number(text) * factor;
}

function find(headers: AnswerHeaders, name: string): string | undefined {
  for (const key of Object.keys(headers)) if (key.toLowerCase() === name) return String(headers[key]);
  return undefined;
}
