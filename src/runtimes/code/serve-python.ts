import type { Duplex } from "node:stream";

import { toFailure, type Failure } from "../../core/errors.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";
import type { ProgramSession } from "./program-session.ts";

/** The longest message of a program, in bytes. */
const longestMessage = 32 * 1024 * 1024;

/**
 * Answers the calls of a program until it says how it ended, and answers with that; with nothing if it closes the channel before.
 * The program can write anything; after what is no message nobody listens any more, and the channel is closed.
 */
export async function servePython(
  channel: Duplex,
  session: ProgramSession,
  maxCalls: number,
): Promise<ProgramEnd | undefined> {
  const refuse = (reason: string): ProgramEnd => {
    channel.destroy();
    return { status: "failed", reason };
  };
  let rest = Buffer.alloc(0);
  let count = 0;
  try {
    for await (const bytes of channel as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const message = parseMessage(rest.subarray(0, end).toString());
        rest = rest.subarray(end + 1);
        if (message === undefined) return refuse("it wrote to the channel what is no message");
        if ("end" in message) return message.end;
        count += 1;
        // One that is not called because the program must stop needs no answer.
        answer(channel, message, session, count > maxCalls ? maxCalls : undefined).catch(() => {});
      }
      if (rest.length > longestMessage) return refuse("it wrote a message that is too long");
    }
  } catch {
    // A program that is killed leaves its channel as it likes.
  }
  return undefined;
}

interface Call {
  readonly id: number;
  readonly tool: string;
  readonly input: unknown;
}

function parseMessage(line: string): Call | { readonly end: ProgramEnd } | undefined {
  try {
    const { id, method, params } = JSON.parse(line) as Record<string, Record<string, unknown>>;
    if (params === undefined) return undefined;
    if ((method as unknown) === "end") return { end: toProgramEnd(params) };
    const { tool, input } = params;
    return typeof id === "number" && typeof tool === "string" ? { id, tool, input } : undefined;
  } catch {
    return undefined;
  }
}

function toProgramEnd({ status, json, reason, found }: Record<string, unknown>): ProgramEnd {
  if (status === "ok" && typeof json === "string" && isJson(json)) return { status, json };
  if (status === "no-json") return { status, found: String(found) };
  if (status === "out-of-time" || status === "out-of-memory") return { status };
  return { status: "failed", reason: String(reason) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function answer(
  channel: Duplex,
  { id, tool, input }: Call,
  session: ProgramSession,
  spent: number | undefined,
): Promise<void> {
  const outcome =
    spent === undefined
      ? await session.call(tool, input)
      : ({ status: "failed", error: toFailure("budget-spent", { tool, limit: spent }) } as const);
  const body = outcome.status === "ok" ? { result: outcome.output } : { error: toRpcError(outcome.error) };
  if (channel.writable) channel.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}

function toRpcError({ code, message, details }: Failure): object {
  return { code: -32000, message, data: { code, details } };
}
