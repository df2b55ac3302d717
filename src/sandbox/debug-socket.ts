import { randomBytes } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";

import { KitbagError, describeCause } from "../core/errors.ts";
import { listenIn } from "./listen-in.ts";

/** Where a debugger waits for the one script that it debugs. */
export interface DebugSocket {
  /** Where it is on the host; see `Profile.debug`. */
  readonly path: string;
  /** The connection of the script. Never rejects; it is pending until somebody connects. */
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
  const name = `debug-${randomBytes(6).toString("hex")}.sock`;
  const path = join(directory, name);
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
  try {
    await new Promise<void>((listening, reject) => {
      server.once("error", reject).once("listening", listening);
      listenIn(directory, name, server);
    });
  } catch (cause) {
    const reason = `no socket for the debugger can be made at ${path} (${describeCause(cause, 200)}); use a writable directory`;
    throw new KitbagError("sandbox-failed", { sandbox: "debugger", reason }, { cause });
  }
  // Inside, the program may be another user; nobody else can enter the directory.
  chmodSync(path, 0o666);
  return {
    path,
    connection,
    close() {
      stopWaiting();
      accepted?.destroy();
    },
  };
}
