import { randomUUID } from "node:crypto";

/** The header with which a proxy or a client names a request, and with which the answer does. */
export const requestIdHeader = "x-request-id";

/** What may stand in a line of a log as it is. */
const sane = /^[\w.:@+/=-]{1,128}$/u;

/** The id of a request: the one that was sent if it is sane, else a new one. */
export function toRequestId(sent: string | readonly string[] | undefined): string {
  return typeof sent === "string" && sane.test(sent) ? sent : randomUUID();
}
