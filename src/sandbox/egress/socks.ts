import type { Socket } from "node:net";

import { toAddress } from "./address.ts";
import { dismiss, joinSockets, reach, type Denial, type EgressContext } from "./client.ts";
import { parseHost, type Host, type Target, type Wrong } from "./network-rule.ts";

const version = 5;
const connectCommand = 1;
const withoutPassword = 0;
const reply = { granted: 0, failed: 1, refused: 2, unreachable: 4, commandUnknown: 7, addressUnknown: 8 };
const replyOf: { readonly [Kind in Denial["kind"]]: number } = {
  rule: reply.refused,
  address: reply.refused,
  name: reply.unreachable,
  failed: reply.unreachable,
};

/** What is asked for, or why it cannot be. */
type Request = Target | (Wrong & { readonly code: number });

/** Speaks SOCKS 5 with a client: connections by name or address, without a password. The first bytes may be unread. */
export async function serveSocks(context: EgressContext, client: Socket): Promise<void> {
  const reader = createReader(client);
  const greeting = await reader.read(2);
  const methods = await reader.read(greeting?.[1] ?? 0);
  if (greeting?.[0] !== version || methods?.includes(withoutPassword) !== true) {
    const entry = context.take(client);
    entry.protocol = "socks";
    entry.end("the client offers no way to log in without a password");
    return dismiss(client, Buffer.from([version, 0xff]));
  }
  client.write(Buffer.from([version, withoutPassword]));
  const wanted = await readRequest(reader);
  reader.release();
  if (wanted === undefined) return void client.destroy();
  const entry = context.take(client);
  entry.protocol = "socks";
  if ("wrong" in wanted) {
    entry.end(wanted.wrong);
    return dismiss(client, toReply(wanted.code));
  }
  const upstream = await reach(context, entry, wanted);
  if ("reason" in upstream) return dismiss(client, toReply(replyOf[upstream.kind]));
  client.write(toReply(reply.granted));
  joinSockets(client, upstream, entry, context.limits);
}

async function readRequest(reader: Reader): Promise<Request | undefined> {
  const head = await reader.read(4);
  if (head === undefined) return undefined;
  const [, command, , kind] = head;
  if (head[0] !== version || command !== connectCommand)
    return { wrong: "only connections are made", code: reply.commandUnknown };
  const host = await readHost(reader, kind ?? 0);
  const port = (await reader.read(2))?.readUInt16BE(0);
  if (host === undefined || port === undefined) return undefined;
  if ("wrong" in host) return { ...host, code: reply.addressUnknown };
  return port === 0 ? { wrong: "a port is a number from 1 to 65535", code: reply.failed } : { ...host, port };
}

async function readHost(reader: Reader, kind: number): Promise<Host | Wrong | undefined> {
  switch (kind) {
    case 1: {
      const bytes = await reader.read(4);
      return bytes && { host: bytes.join("."), kind: "address" };
    }
    case 3: {
      const length = (await reader.read(1))?.[0];
      // Each byte is one character, so that nothing but ASCII can look like ASCII.
      const name = length === undefined ? undefined : await reader.read(length);
      return name && parseHost(name.toString("latin1"));
    }
    case 4: {
      const bytes = await reader.read(16);
      const groups = bytes?.toString("hex").match(/.{4}/gu) ?? undefined;
      return groups && { host: toAddress(groups.join(":")) ?? "", kind: "address" };
    }
    default:
      return { wrong: "an unknown kind of address" };
  }
}

function toReply(code: number): Buffer {
  return Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

interface Reader {
  /** Exactly so many bytes; `undefined` if the other side ended before. */
  read(length: number): Promise<Buffer | undefined>;
  /** Gives the socket back, with what was not read. */
  release(): void;
}

function createReader(client: Socket): Reader {
  let wake = (): void => {};
  const onChange = (): void => wake();
  const events = ["readable", "end", "close", "error"] as const;
  for (const event of events) client.on(event, onChange);
  return {
    async read(length) {
      if (length === 0) return Buffer.alloc(0);
      for (;;) {
        const bytes = client.read(length) as Buffer | null;
        // At the end of a stream Node gives what is left, however short.
        if (bytes !== null) return bytes.length === length ? bytes : undefined;
        if (client.readableEnded || client.destroyed) return undefined;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    release() {
      for (const event of events) client.off(event, onChange);
    },
  };
}
