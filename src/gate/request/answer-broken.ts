import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Answers bytes that are no request, and cuts the connection. What was wrong in detail is nobody's business. */
export function answerBroken(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const status = toStatus(error.code);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.once("finish", () => socket.destroy());
}

function toStatus(code: string | undefined): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}

/** A second status line in the middle of an answer could be taken for a part of it. */
function isAnswering(socket: Duplex): boolean {
  if (!("_httpMessage" in socket)) return false;
  const message = socket._httpMessage;
  return typeof message === "object" && message !== null && "headersSent" in message && message.headersSent === true;
}
