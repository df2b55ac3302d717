import type { Server } from "node:http";

import { describeCause, KitbagError } from "../core/errors.ts";
import type { GateOptions } from "./gate.ts";
import { isEverywhere, isLoopback } from "./origin/is-loopback.ts";

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there; stop it, or take another port",
  EACCES: "this user may not take that port; take one above 1023",
  EADDRNOTAVAIL: "this machine does not have that address",
  ENOTFOUND: "no address has that name",
  EAI_AGAIN: "the name cannot be resolved now",
};

/** Begins to listen, and tells where. */
export async function listen(
  server: Server,
  { host = "127.0.0.1", port = 0 }: GateOptions,
): Promise<{ readonly url: string }> {
  const wanted = `${host}:${port}`;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new KitbagError(
      "listen-failed",
      { address: wanted, reason: reasons[code] ?? describeCause(cause) },
      { cause },
    );
  }
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new KitbagError("listen-failed", { address: wanted, reason: "it is no address of a network" });
  }
  if (isLoopback(host) && !isLoopback(address.address)) {
    server.close();
    const reason = `it means ${address.address}, which others can reach; use 127.0.0.1`;
    throw new KitbagError("listen-failed", { address: wanted, reason });
  }
  return { url: `http://${toUrlHost(host, address.family)}:${address.port}` };
}

function toUrlHost(host: string, family: string): string {
  if (isEverywhere(host)) return "127.0.0.1";
  return family === "IPv6" && host.includes(":") ? `[${host}]` : host;
}
