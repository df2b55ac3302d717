import { isUtf8 } from "node:buffer";

import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/server";
import { SKILL_LIMITS } from "@modelcontextprotocol/server/ext/skills";

import type { ServedFile } from "./served-skill.ts";

/** The largest file that is sent: a host need not take a skill that has more in all of its files. */
const maxFileBytes: number = SKILL_LIMITS.bytes;

/**
 * Reads a file of a skill, byte for byte as it was published.
 *
 * @throws {ProtocolError} `InvalidParams` if it is too large, `InternalError` if it is not the same any more.
 */
export function readServedFile({ uri, mimeType, size, read }: ServedFile): ReadResourceResult["contents"][number] {
  if (size > maxFileBytes) {
    const message = `Cannot send ${uri}: it has ${size} bytes, and at most ${maxFileBytes} are sent`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const bytes = read();
  if (bytes === undefined) {
    const message = `Cannot read ${uri}: it changed since it was listed; list the skills again`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }
  if (!isUtf8(bytes)) return { uri, mimeType, blob: Buffer.from(bytes).toString("base64") };
  // A byte order mark is one of the bytes that the digest is of.
  return { uri, mimeType, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}
