import { isUtf8 } from "node:buffer";

import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/server";

import type { ServedFile } from "./served-skill.ts";

/**
 * Reads a file of a skill, byte for byte as it was published.
 *
 * @throws {ProtocolError} `InternalError` if it is not the same any more.
 */
export function readServedFile({ uri, mimeType, read }: ServedFile): ReadResourceResult["contents"][number] {
  const bytes = read();
  if (bytes === undefined) {
    const message = `Cannot read ${uri}: it changed since it was listed; list the skills again`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }
  if (!isUtf8(bytes)) return { uri, mimeType, blob: Buffer.from(bytes).toString("base64") };
  // A byte order mark is one of the bytes that the digest is of.
  return { uri, mimeType, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}
