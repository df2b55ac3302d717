import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import type { Duplex, Readable } from "node:stream";

import { listenIn } from "../sockets.ts";
import { createBatches, makeFifos } from "../pipes.ts";

/** The streams of one call, which a process inside opens by their names. */
export interface CallStreams {
  readonly id: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process inside has opened all of them. */
  readonly channel: Promise<Duplex>;
  /** Says that no process inside has or will open any of them, so that they can serve another call. */
  release(): void;
}

/** Makes the streams of calls in one directory. */
export interface StreamMaker {
  make(): Promise<CallStreams>;
  close(): void;
}

const callsAtATime = 16;

/** Makes streams in `directory`, which becomes a directory of the sandbox. */
export async function createStreamMaker(directory: string): Promise<StreamMaker> {
  const expected = new Map<string, (channel: Duplex) => void>();
  const server = createServer((socket) => void readId(socket).then((id) => expected.get(id)?.(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).once("listening", resolve);
    listenIn(directory, "channel", server);
  });
  server.unref();
  const ids = createBatches(async () => {
    const batch = Array.from({ length: callsAtATime }, () => randomBytes(8).toString("hex"));
    await makeFifos(batch.flatMap((id) => [join(directory, `${id}.out`), join(directory, `${id}.err`)]));
    return batch;
  });

  return {
    async make() {
      const id = await ids.take();
      const path = (ending: string): string => join(directory, `${id}.${ending}`);
      const [stdout, stderr] = [openRead(path("out")), openRead(path("err"))];
      // A pipe without a writer has ended; these keep it open until the process inside has its own.
      const held = [openSync(path("out"), constants.O_WRONLY), openSync(path("err"), constants.O_WRONLY)];
      const { promise: channel, resolve } = Promise.withResolvers<Duplex>();
      const letGo = (): void => {
        for (const descriptor of held.splice(0)) closeSync(descriptor);
      };
      expected.set(id, (socket) => {
        letGo();
        resolve(socket);
      });
      const release = (): void => {
        expected.delete(id);
        letGo();
        // Once no process has them open, nothing of this call is left in them.
        void Promise.allSettled([finished(stdout), finished(stderr)]).then(() => ids.giveBack(id));
      };
      return { id, stdout, stderr, channel, release };
    },
    close: () => void server.close(),
  };
}

function openRead(path: string): Readable {
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

/** A process says first which call it is. What comes after that line belongs to the reader of the channel. */
function readId(socket: Duplex): Promise<string> {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("readable", function read() {
      const piece = socket.read() as Buffer | null;
      if (piece === null) return;
      seen = Buffer.concat([seen, piece]);
      const end = seen.indexOf(10);
      if (end < 0) return;
      socket.off("readable", read);
      if (end + 1 < seen.length) socket.unshift(seen.subarray(end + 1));
      resolve(seen.toString("latin1", 0, end));
    });
  });
}
