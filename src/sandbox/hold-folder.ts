import { closeSync, constants, lstatSync, openSync, utimesSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

import { listenIn } from "./listen-in.ts";

/** The socket in a folder that a process listens on as long as it holds the folder. */
const socketName = "held";

/** Holds a folder until this process ends, or until the answered function is called. The kernel ends it with the process. */
export function holdFolder(folder: string): () => void {
  const server = createServer((socket) => socket.destroy());
  // A folder that cannot have a socket is not held: its age decides.
  server.on("error", () => {});
  listenIn(folder, socketName, server);
  server.unref();
  return () => {
    server.close();
    makeOld(folder);
  };
}

/** The socket is gone with its server, and a folder without one is taken as held while it is young: it is old from now on. */
function makeOld(folder: string): void {
  try {
    utimesSync(folder, 0, 0);
  } catch {
    // It is gone.
  }
}

/**
 * Tells whether a process holds a folder, also one that has another list of processes, as in another container. A folder without a socket
 * is taken as held while it is young: its process may just be making it.
 */
export async function isHeld(folder: string): Promise<boolean> {
  const facts = lstatSync(join(folder, socketName), { throwIfNoEntry: false });
  if (facts === undefined) return isYoung(folder);
  return new Promise((resolve) => {
    withShortPath(folder, (path) => {
      const socket = connect(path);
      const answer = (held: boolean): void => {
        socket.destroy();
        resolve(held);
      };
      socket.on("connect", () => answer(true));
      // Only this says that no process listens. One that is too busy to take us still holds it.
      socket.on("error", (cause) => answer((cause as NodeJS.ErrnoException).code !== "ECONNREFUSED"));
    });
  });
}

const youngMs = 3_600_000;

function isYoung(folder: string): boolean {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs < youngMs;
}

/** As in `listenIn`: the path of a socket must be short. */
function withShortPath(folder: string, use: (path: string) => void): void {
  if (process.platform !== "linux") return use(join(folder, socketName));
  const place = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    use(`/proc/self/fd/${place}/${socketName}`);
  } finally {
    closeSync(place);
  }
}
