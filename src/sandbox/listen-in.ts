import { closeSync, constants, openSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";

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
