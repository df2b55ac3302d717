/** Reads a line as JSON. What is none is for the SDK to refuse. */
export function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** The number of the request that a client no longer wants answered. */
export function readCancelled(message: unknown): string | number | undefined {
  return (message as { readonly params?: { readonly requestId?: string | number } } | undefined)?.params?.requestId;
}
