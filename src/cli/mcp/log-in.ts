import type { LogIn } from "../../runtimes/mcp/oauth-file.ts";
import type { Terminal } from "../terminal.ts";

/** A place on this machine to which a browser comes back after a log-in. */
export interface OpenLogIn extends LogIn {
  close(): Promise<void>;
}

const page = "<!doctype html><title>Kitbag</title><p>You are logged in. You can close this window.</p>";
/** A person may have to look for a password. */
const patienceMs = 5 * 60_000;

/** Opens a place for a browser to come back to, on the loopback address alone. */
export async function openLogIn(terminal: Pick<Terminal, "note">): Promise<OpenLogIn> {
  const { openGate } = await import("../../gate/open-gate.ts");
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const gate = await openGate({
    routes: [
      {
        path: "/callback",
        handle({ response, query }) {
          response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
          resolve(new URLSearchParams(query));
        },
      },
    ],
  });
  return {
    redirectUrl: `${gate.url}/callback`,
    show(url) {
      terminal.note(`Log in with your browser:\n  ${url.href}\n`);
      timer = setTimeout(() => reject(new Error("nobody logged in within five minutes")), patienceMs);
    },
    waitFor: () => promise,
    async close() {
      clearTimeout(timer);
      await gate.close({ graceMs: 1000 });
    },
  };
}
