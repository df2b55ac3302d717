import type { AskServer } from "./server-model.ts";

/** How a server is reached. */
export interface ServerAddress {
  /** With or without `/v1` at its end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

const patienceMs = 2000;
/** A list of models has some kilobytes; what is longer is no such list. */
const mostBytes = 4 * 1024 ** 2;

/** Makes the function that asks a server what it has. Each question takes two seconds at most. */
export function createAskServer(address: ServerAddress): AskServer {
  const { apiKey, headers = {}, fetch: send = fetch } = address;
  const root = toRoot(address.baseUrl);
  return async (path, body) => {
    try {
      const response = await send(`${root}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          ...headers,
          ...(body && { "content-type": "application/json" }),
        },
        redirect: "error",
        signal: AbortSignal.timeout(patienceMs),
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: toJson(await readShort(response)) };
    } catch {
      return undefined;
    }
  };
}

/** Where the server is: its own questions are not under `/v1`. */
export function toRoot(baseUrl: string): string {
  return baseUrl.replace(/\/+$/u, "").replace(/\/v1$/u, "");
}

/** @throws {RangeError} if it is too long. */
async function readShort(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new RangeError("the answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
