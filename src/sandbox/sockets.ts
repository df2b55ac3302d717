import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";

import { KitbagError, describeCause } from "../core/errors.ts";

/**
 * Lets a server listen on the socket `name` in a folder, however long the path of the folder is: that of a socket has at most 107 bytes,
 * and that of an open folder is always short. A socket that cannot be made is an `error` of the server.
 */
export function listenIn(folder: string, name: string, server: Server): void {
  if (process.platform !== "linux") return void server.listen(join(folder, name));
  const place = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  let isOpen = true;
  const release = (): void => {
    if (isOpen && !server.listening) closeSync(place);
    isOpen &&= server.listening;
  };
  // Node removes the socket by this path when the server is closed: until then the number must not become that of another folder.
  server.once("close", release).once("error", release);
  server.listen(`/proc/self/fd/${place}/${name}`);
}

/**
 * Lets a server listen on a new socket in `directory`, which only this user may enter, for programs inside. Answers with its path.
 *
 * @throws {KitbagError} `sandbox-failed` if there can be no socket in the directory
 */
export async function listenForPrograms(server: Server, directory: string, purpose: SocketPurpose): Promise<string> {
  const { sandbox, prefix, reader } = purpose;
  const name = `${prefix}-${randomBytes(6).toString("hex")}.sock`;
  const path = join(directory, name);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).once("listening", resolve);
      listenIn(directory, name, server);
    });
    // Inside, the program is another user; no other program can enter the directory.
    chmodSync(path, 0o666);
    return path;
  } catch (cause) {
    const reason = `no socket for the ${reader} can be made at ${path} (${describeCause(cause, 200)}); use a writable directory`;
    throw new KitbagError("sandbox-failed", { sandbox, reason }, { cause });
  }
}

/** What a socket is for, in names and messages. */
interface SocketPurpose {
  readonly sandbox: string;
  readonly prefix: string;
  readonly reader: string;
}

/** Where a debugger waits for the one script that it debugs. */
interface DebugSocket {
  /** Where it is on the host; see `Profile.debug`. */
  readonly path: string;
  /** The connection of the script. Never rejects; it is pending until the script connects. */
  readonly connection: Promise<Duplex>;
  /** Stops waiting and ends the connection. */
  close(): void;
}

/**
 * Opens a socket in `directory`, which only this user may enter. The first connection is the only one: then the socket is gone.
 *
 * @throws {KitbagError} `sandbox-failed` if there can be no socket in the directory
 */
export async function openDebugSocket(directory: string): Promise<DebugSocket> {
  const { promise: connection, resolve } = Promise.withResolvers<Duplex>();
  let accepted: Socket | undefined;
  const server = createServer((socket) => {
    // Others may have connected before the first one was seen.
    if (accepted !== undefined) return void socket.destroy();
    accepted = socket;
    socket.on("error", () => {});
    stopWaiting();
    resolve(socket);
  });
  const stopWaiting = (): void => {
    server.close();
    rmSync(path, { force: true });
  };
  const path = await listenForPrograms(server, directory, {
    sandbox: "debugger",
    prefix: "debug",
    reader: "debugger",
  });
  return {
    path,
    connection,
    close() {
      stopWaiting();
      accepted?.destroy();
    },
  };
}
