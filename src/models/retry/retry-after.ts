/** Headers, or what stands for them. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>;

/**
 * How long a provider asks to be left alone: `retry-after-ms`, `retry-after` in seconds or as a date, or the delay that Google
 * writes into the body. `undefined` if it says nothing that can be understood.
 */
export function readRetryAfter(headers: AnswerHeaders, body: string, now: number): number | undefined {
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
export function findHeader(headers: AnswerHeaders, name: string): string | undefined {
  for (const key of Object.keys(headers)) if (key.toLowerCase() === name) return String(headers[key]);
  return undefined;
}
