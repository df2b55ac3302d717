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
  /** Says who takes the texts that come, until it is called again. */
  listen(take: (text: string) => void): void;
  /** Announces that this thread will wait for texts that are sent from now on; after waiting, {@link Exchange.leave} must follow. */
  announce(): void;
  /** Hands on what was laid down for a thread that said it would wait, and does not any more. */
  leave(): void;
  /** Blocks this thread until a text arrives, the other thread releases it, or the time is up; delivers texts, answers whether any came. */
  wait(maxMs: number): boolean;
  /** Lets the other thread go on if it waits: no text will come soon. */
  release(): void;
}

/**
 * The parts of a desk: its state, how many bytes lie there, the number of the text among all that were sent, and how many the one who
 * waits had when it began to.
 */
const stateAt = 0;
const lengthAt = 1;
const numberAt = 2;
const receivedAt = 3;
const headBytes = 4 * Int32Array.BYTES_PER_ELEMENT;
/** The states: no thread waits; a thread waits; there is a text for the thread that waits. */
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
  const sender = createSender(port, outbox);
  return { ...sender, ...createReceiver(port, inbox, sender.release) };
}

function createSender(port: MessagePort, desk: Desk): Pick<Exchange, "send" | "release"> {
  const [head, bytes] = toParts(desk);
  let sent = 0;

  function layDown(text: string): boolean {
    if (text.length > longestText || Atomics.load(head, stateAt) !== awaited) return false;
    // The other thread reads it only after the state has changed.
    head[lengthAt] = bytes.write(text);
    head[numberAt] = sent;
    return Atomics.compareExchange(head, stateAt, awaited, full) === awaited;
  }

  function release(): void {
    if (Atomics.compareExchange(head, stateAt, awaited, empty) === awaited) Atomics.notify(head, stateAt);
  }

  return {
    send(text) {
      sent += 1;
      if (layDown(text)) return void Atomics.notify(head, stateAt);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
      port.postMessage(text);
      // A thread that began to wait meanwhile may have looked into the port before; not if it has this text.
      if (Atomics.load(head, receivedAt) < sent) release();
    },
    release,
  };
}

function createReceiver(port: MessagePort, desk: Desk, release: () => void): Omit<Exchange, "send" | "release"> {
  const [head] = toParts(desk);
  const inbox = createInbox(port, desk);
  /** Who has announced it and is not awaited any more was let go before it came to waiting. */
  let isAnnounced = false;

  function announce(): void {
    isAnnounced = true;
    Atomics.store(head, receivedAt, inbox.received());
    Atomics.compareExchange(head, stateAt, empty, awaited);
  }

  return {
    listen: inbox.listen,
    announce,
    leave() {
      isAnnounced = false;
      if (Atomics.compareExchange(head, stateAt, awaited, empty) === full) inbox.clear();
    },
    wait(maxMs) {
      const wasAnnounced = isAnnounced;
      isAnnounced = false;
      if (inbox.clear()) return true;
      const before = inbox.received();
      if (!wasAnnounced) announce();
      isAnnounced = false;
      const first = receive(port);
      if (first === undefined) {
        // Two that wait for each other wait in vain.
        release();
        Atomics.wait(head, stateAt, awaited, maxMs);
      }
      Atomics.compareExchange(head, stateAt, awaited, empty);
      // One is enough: a sender without end must not hold up everything else here.
      if (first !== undefined) inbox.hand(first);
      else if (!inbox.clear()) inbox.handUntil(before + 1);
      return inbox.received() > before;
    },
  };
}

/** Puts the texts of a port and of a desk in the order in which they were sent. */
interface Inbox {
  listen(take: (text: string) => void): void;
  /** How many texts were handed on. */
  received(): number;
  /** Hands on a text of the port. */
  hand(text: string): void;
  /** Hands on what is in the port, but not what was sent after so many texts. */
  handUntil(count: number): void;
  /** Hands on the text that lies there, and what was sent before it; tells whether there is one. */
  clear(): boolean;
}

function createInbox(port: MessagePort, desk: Desk): Inbox {
  const [head, bytes] = toParts(desk);
  let received = 0;
  let take: (text: string) => void = () => {};

  function handOne(text: string): void {
    received += 1;
    take(text);
  }

  const inbox: Inbox = {
    listen(next) {
      take = next;
    },
    received: () => received,
    hand(text) {
      // The event loop may turn to the port before anyone looks what was laid down before. The number counts while it lies there.
      if (Atomics.load(head, stateAt) === full && head[numberAt] === received + 1) inbox.clear();
      handOne(text);
    },
    handUntil(count) {
      for (let left = count - received; left > 0; left = count - received) {
        const text = receive(port);
        if (text === undefined) return;
        inbox.hand(text);
      }
    },
    clear() {
      if (Atomics.load(head, stateAt) !== full) return false;
      const text = bytes.toString("utf8", 0, head[lengthAt]);
      const number = head[numberAt] ?? 0;
      Atomics.store(head, stateAt, empty);
      // What was sent before it is in the port when it lies there.
      inbox.handUntil(number - 1);
      handOne(text);
      return true;
    },
  };
  port.on("message", inbox.hand);
  return inbox;
}

function receive(port: MessagePort): string | undefined {
  return receiveMessageOnPort(port)?.message as string | undefined;
}

function toParts(desk: Desk): [head: Int32Array, bytes: Buffer] {
  return [new Int32Array(desk, 0, headBytes / Int32Array.BYTES_PER_ELEMENT), Buffer.from(desk, headBytes)];
}
