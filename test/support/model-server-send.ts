import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";

import type { ScriptedAnswer, ScriptedFault } from "./model-server-answer.ts";
import type { Dialect, RequestContent, WireEvent } from "./model-server-wire.ts";

/** What is sent, and where it is split. */
export interface Sending {
  readonly reply: ScriptedAnswer;
  readonly random: () => number;
}

/** Sends an answer in the words of a provider, with what goes wrong on the way. */
export async function sendAnswer(
  response: ServerResponse,
  dialect: Dialect,
  request: RequestContent,
  { reply, random }: Sending,
): Promise<void> {
  const { fault } = reply;
  if (fault?.kind === "refused") return void response.destroy();
  const stream = dialect.isLines === true ? "application/x-ndjson" : "text/event-stream; charset=utf-8";
  const type = request.isStream ? stream : "application/json";
  response.writeHead(200, { "content-type": type, "x-request-id": "req_1" });
  response.flushHeaders();
  if (fault?.kind === "slow") await fault.until;
  const body = request.isStream
    ? toStreamText(withFault(dialect.toEvents(reply, request), fault, dialect), dialect)
    : JSON.stringify(dialect.toBody(reply, request));
  const bytes = Buffer.from(body);
  const end = fault?.kind === "cut" ? Math.floor(bytes.length * (fault.share ?? 0.5)) : bytes.length;
  await writeInPieces(response, bytes.subarray(0, end), random);
  if (fault?.kind === "cut") response.destroy();
  else response.end();
}

function withFault(
  events: readonly WireEvent[],
  fault: ScriptedFault | undefined,
  dialect: Dialect,
): readonly WireEvent[] {
  const middle = Math.ceil(events.length * (fault?.kind === "ended" ? (fault.share ?? 0.5) : 0.5));
  const first = events.slice(0, middle);
  if (fault?.kind === "ended") return first;
  if (fault?.kind === "failed") return [...first, dialect.toFailure()];
  if (fault?.kind !== "malformed") return events;
  return [...first, { ...events[middle], data: '{"broken": tru' }, ...events.slice(middle)];
}

/** A comment before the first event, as servers send one to keep a connection open. */
function toStreamText(events: readonly WireEvent[], { isLines = false }: Dialect): string {
  if (isLines) return events.map(({ data }) => `${data}\n`).join("");
  const lines = events.map(({ name, data }) => `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`);
  return `: open\n\n${lines.join("")}`;
}

/** Pieces of 1 to 48 bytes, wherever they fall: also in the middle of a character, and of an end of line. */
async function writeInPieces(response: ServerResponse, bytes: Buffer, random: () => number): Promise<void> {
  const most = Math.max(48, bytes.length / 200);
  for (let start = 0; start < bytes.length && !response.destroyed;) {
    const end = Math.min(bytes.length, start + 1 + Math.floor(random() * most));
    response.write(bytes.subarray(start, end));
    start = end;
    await nextTurn();
  }
}

/** A small generator of numbers from 0 to 1 (a linear congruence): the same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
