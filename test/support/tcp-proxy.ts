import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A way to a server on which things go wrong. */
export interface TcpProxy {
  readonly port: number;
  /** From now on bytes are taken and never passed on; new connections are accepted and hear nothing. */
  blackHole(): void;
  /** From now on bytes come so much later, each way. */
  delay(ms: number): void;
  /** From now on so many bytes are passed on each 50 ms, each way. */
  trickle(bytes: number): void;
  /** From now on everything is passed on at once; connections that fell into a black hole stay there. */
  heal(): void;
  /** Breaks all connections with RST. */
  reset(): void;
  /** Ends the server's half of all connections: what the client still sends goes nowhere. */
  halfClose(): void;
  /** From now on passes the client's bytes on, and swallows the answers of the server. */
  swallowAnswers(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** What goes wrong at the moment. */
interface Fault {
  state: "open" | "hole" | "deaf";
  delayMs: number;
  trickleBytes: number;
}

/** Starts a proxy to a port of the loopback interface. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const fault: Fault = { state: "open", delayMs: 0, trickleBytes: Infinity };
  const listener = createServer((client) => {
    const pair = { client, server: connect(target, "127.0.0.1") };
    pairs.add(pair);
    pass(fault, client, pair.server, false);
    pass(fault, pair.server, client, true);
    client.on("close", () => pairs.delete(pair));
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");

  return {
    port: (listener.address() as AddressInfo).port,
    blackHole: () => void (fault.state = "hole"),
    swallowAnswers: () => void (fault.state = "deaf"),
    delay: (ms) => void (fault.delayMs = ms),
    trickle: (bytes) => void (fault.trickleBytes = bytes),
    heal: () => void Object.assign(fault, { state: "open", delayMs: 0, trickleBytes: Infinity }),
    reset() {
      for (const { client } of pairs) client.resetAndDestroy();
    },
    halfClose() {
      for (const { client } of pairs) client.end();
    },
    async close() {
      for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
}

function pass(fault: Fault, from: Socket, to: Socket, isAnswer: boolean): void {
  from.on("data", (bytes: Buffer) => {
    if (fault.state === "hole" || (fault.state === "deaf" && isAnswer)) return;
    if (fault.trickleBytes < Infinity) drip(fault, from, to, bytes);
    else if (fault.delayMs === 0) to.write(bytes);
    else setTimeout(() => to.write(bytes), fault.delayMs);
  });
  from.on("error", () => undefined);
  from.on("close", () => to.destroy());
}

/** Passes bytes on bit by bit, and takes no more from where they come until all are gone. */
function drip(fault: Fault, from: Socket, to: Socket, bytes: Buffer): void {
  from.pause();
  to.write(bytes.subarray(0, fault.trickleBytes));
  const rest = bytes.subarray(Math.min(fault.trickleBytes, bytes.length));
  setTimeout(() => (rest.length > 0 ? drip(fault, from, to, rest) : from.resume()), 50);
}
