import { receiveMessageOnPort, type MessagePort } from "node:worker_threads";

/** Where one thread lays down a text for another that waits for it: memory of both. */
export type Desk = SharedArrayBuffer;

/** What each of two threads has of what lies between them. */
export interface ExchangeEnds {
  readonly port: MessagePort;
  readonly inbox: Desk;
  readonly outbox: Desk;
}

/** One end of the way between two threads. Texts come in the order in which they were sent, each once; they are well-formed Unicode. */
export interface Exchange {
  send(text: string): void;
  /** Says who takes the texts that come, until someone else does. */
  listen(take: (text: string) => void): void;
  /** Stops this thread until a text comes, but not for longer than that; hands on what has come, and tells whether any has. */
  wait(maxMs: number): boolean;
}

/** The parts of a desk: its state, how many bytes lie there, and the number of the text among all that were sent. */
const stateAt = 0;
const lengthAt = 1;
const numberAt = 2;
const headBytes = 3 * Int32Array.BYTES_PER_ELEMENT;
/** The states: nobody waits; someone waits; there is a text for the one who waits. */
const empty = 0;
const awaited = 1;
const full = 2;

/** A character is at most three bytes. */
const longestText = 16 * 1024;
const bytesPerCharacter = 3;

/** Makes a desk. */
export function createDesk(): Desk {
  return new SharedArrayBuffer(headBytes + longestText * bytesPerCharacter);
}

/**
 * Makes one end. A text goes through the port, and through the event loop of the other thread; but where that one waits, the text is
 * laid on its desk and it goes on at once. What is too long for a desk takes the port, too.
 */
export function createExchange({ port, inbox, outbox }: ExchangeEnds): Exchange {
  return { send: createSend(port, outbox), ...createReceiver(port, inbox) };
}

function createSend(port: MessagePort, desk: Desk): Exchange["send"] {
  const [head, bytes] = toParts(desk);
  let sent = 0;

  function layDown(text: string): boolean {
    if (text.length > longestText || Atomics.load(head, stateAt) !== awaited) return false;
    // Nobody looks at it before the state says so.
    head[lengthAt] = bytes.write(text);
    head[numberAt] = sent;
    return Atomics.compareExchange(head, stateAt, awaited, full) === awaited;
  }

  return (text) => {
    sent += 1;
    if (!layDown(text)) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
      port.postMessage(text);
      // Whoever began to wait meanwhile may have looked into the port before.
      if (Atomics.compareExchange(head, stateAt, awaited, empty) !== awaited) return;
    }
    Atomics.notify(head, stateAt);
  };
}

function createReceiver(port: MessagePort, desk: Desk): Pick<Exchange, "listen" | "wait"> {
  const [head, bytes] = toParts(desk);
  let received = 0;
  let take: (text: string) => void = () => {};

  function hand(text: string): void {
    received += 1;
    take(text);
  }

  /** Hands on what is in the port, but not what was sent after so many texts. */
  function handUntil(count: number): void {
    while (received < count) {
      const text = receive(port);
      if (text === undefined) return;
      hand(text);
    }
  }

  port.on("message", hand);
  return {
    listen(next) {
      take = next;
    },
    wait(maxMs) {
      const before = received;
      Atomics.store(head, stateAt, awaited);
      const first = receive(port);
      if (first === undefined) Atomics.wait(head, stateAt, awaited, maxMs);
      const isFull = Atomics.exchange(head, stateAt, empty) === full;
      const text = isFull ? bytes.toString("utf8", 0, head[lengthAt]) : undefined;
      // What was sent before a text is in the port when the text lies there.
      const earlier = isFull ? (head[numberAt] ?? 0) - 1 : Infinity;
      if (first !== undefined) hand(first);
      handUntil(earlier);
      if (text !== undefined) hand(text);
      return received > before;
    },
  };
}

function receive(port: MessagePort): string | undefined {
  return receiveMessageOnPort(port)?.message as string | undefined;
}

function toParts(desk: Desk): [head: Int32Array, bytes: Buffer] {
  return [new Int32Array(desk, 0, headBytes / Int32Array.BYTES_PER_ELEMENT), Buffer.from(desk, headBytes)];
}
