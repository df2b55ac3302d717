import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { createLineSplitter } from "../../platform/lines.ts";
import { describeExit, type SandboxProcess } from "../../sandbox/sandbox.ts";

/** A program that speaks MCP on its standard streams. */
export interface ProgramTransport extends Transport {
  /** Resolves with why, when the program is gone. */
  readonly gone: Promise<string>;
  /** Why we ended it, if we did. */
  readonly wasEnded: string | undefined;
  /** When it last said something that could be read, by `performance.now()`. */
  readonly heardAt: number;
  /** Whether this process waits for it before it ends by itself. */
  setHeld(held: boolean): void;
  /** With `pid` it tells the SDK that this is a local pipe: there silence is an older server, not an outage. */
  readonly stderr: null;
  readonly pid: number;
}

/** How a transport treats its program. */
export interface ProgramTransportOptions {
  /** The longest message. */
  readonly maxBytes: number;
}

/** Programs print banners before they speak; one that goes on is not a server. */
const mostOddLines = 100;
const longestComplaint = 500;

/** Speaks with a program that was started with standard input on its descriptor 3; ends one that floods or babbles. */
export function programTransport(process: SandboxProcess, { maxBytes }: ProgramTransportOptions): ProgramTransport {
  const complaint = keepComplaint(process);
  let violation: string | undefined;
  let oddLines = 0;
  let heardAt = performance.now();

  const end = (reason: string): void => {
    violation ??= reason;
    process.kill();
  };

  function hear(line: string): void {
    if (violation !== undefined || line.trim() === "") return;
    const message = parseMessage(line);
    if (message !== undefined) {
      heardAt = performance.now();
      return transport.onmessage?.(message);
    }
    if (++oddLines > mostOddLines) end(`it printed more than ${mostOddLines} lines that are no messages`);
  }

  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => hear(line.toString("utf8")),
    onTooLong: () => end(`it sent a message of more than ${maxBytes} bytes`),
  });
  const transport: ProgramTransport = {
    stderr: null,
    pid: process.pid,
    get wasEnded() {
      return violation;
    },
    get heardAt() {
      return heardAt;
    },
    gone: process.exit.then((status) => [violation ?? describeExit(status), complaint()].filter(Boolean).join(": ")),
    setHeld: (held) => process.setHeld(held),
    async start() {
      process.stdout.on("data", splitter.push);
      void process.exit.then(() => transport.onclose?.());
    },
    async send(message) {
      if (!process.channel.writable) throw new Error("It does not listen any more");
      process.channel.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      // This process must not end before it.
      process.setHeld(true);
      process.kill();
      await process.exit;
    },
  };
  return transport;
}

/** The last that a program said on its standard error: mostly the reason why it ended. */
function keepComplaint({ stderr }: SandboxProcess): () => string {
  let complaint = "";
  stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-longestComplaint);
  });
  return () => complaint.trim();
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isMessage = typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
    return isMessage ? (value as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
