import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly characters: number;
  /** Whom it was sent to. */
  readonly reader: string;
}

const mostEvents = 256;
const mostCharacters = 512 * 1024;

/**
 * Makes a log of the latest messages to a client, so that one whose connection broke gets what it missed. What is older is gone; a
 * client that asks for it begins anew. Only who `reader` names when a message is sent gets it again.
 */
export function createEventLog(reader: () => string = () => ""): EventStore {
  const kept: Kept[] = [];
  let count = 0;
  let characters = 0;
  const own = (): readonly Kept[] => kept.filter((one) => one.reader === reader());

  return {
    async storeEvent(stream, message) {
      count += 1;
      const { length } = JSON.stringify(message);
      const one = { id: `${count}_${stream}`, stream, message, characters: length, reader: reader() };
      kept.push(one);
      characters += one.characters;
      while (kept.length > mostEvents || characters > mostCharacters) characters -= kept.shift()?.characters ?? 0;
      return one.id;
    },
    getStreamIdForEventId: async (id) => own().find((one) => one.id === id)?.stream,
    async replayEventsAfter(last, { send }) {
      const sent = own();
      const at = sent.findIndex((one) => one.id === last);
      const stream = sent[at]?.stream;
      if (stream === undefined) throw new Error("Cannot go on from an event that is no longer kept");
      for (const { id, stream: of, message } of sent.slice(at + 1)) if (of === stream) await send(id, message);
      return stream;
    },
  };
}

/** What the SDK calls the stream on which a client hears of changes. */
const noticeStream = "_GET_stream";

/** Tells whether an event was a notice, and no part of an answer. */
export function isNoticeEvent(id: string): boolean {
  return id.endsWith(`_${noticeStream}`);
}
