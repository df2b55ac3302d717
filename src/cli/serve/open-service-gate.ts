import { isatty } from "node:tty";

import type { Gate, GateEvent, Route } from "../../gate/gate.ts";
import { openGate } from "../../gate/open-gate.ts";
import type { Invocation } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";
import { interrupt } from "../until-interrupted.ts";
import type { FollowedTokens, LiveTokens } from "./live-tokens.ts";
import type { HttpWishes } from "./serve-wishes.ts";

/** What a service listens with. */
export interface ServiceGateParts {
  readonly http: HttpWishes;
  /** Nothing if no token is asked for, or callers log in elsewhere. */
  readonly tokens: LiveTokens | undefined;
  readonly route: Route;
  /** Why there is no service yet. */
  readonly unavailable?: string;
  readonly report?: (event: GateEvent) => void;
}

/** The gate of a service, which follows its tokens. */
export interface ServiceGate extends Pick<Gate, "url" | "running" | "close"> {
  /** The token that the first start made. */
  readonly token: string | undefined;
}

/** Opens the gate of a service. While it is open the token files are followed, and read at once on SIGHUP. */
export async function openServiceGate(invocation: Invocation, parts: ServiceGateParts): Promise<ServiceGate> {
  const { http, tokens, route, unavailable, report } = parts;
  const { host, port, hosts, origins, oauth } = http;
  let followed: FollowedTokens | undefined;
  const gate = await openGate({
    routes: [route],
    host,
    port,
    hosts,
    origins,
    ...(tokens !== undefined && { tokens: tokens.current }),
    ...(oauth !== undefined && { oauth }),
    ...(unavailable !== undefined && { unavailable }),
    ...(report !== undefined && { report }),
    refreshTokens: () => followed?.refresh(),
  });
  try {
    const token = await tokens?.keepFirst();
    // Another start of the first time may have made the token.
    if (tokens !== undefined) gate.setTokens(tokens.current);
    followed = tokens?.follow(gate.setTokens, (problem) => invocation.terminal.note(`${toPrintableLine(problem)}\n`));
    const stopListening = onHangup(() => followed?.reread());
    return {
      url: gate.url,
      token,
      get running() {
        return gate.running;
      },
      async close(options) {
        await gate.close(options);
        stopListening();
        followed?.stop();
      },
    };
  } catch (cause) {
    await gate.close();
    throw cause;
  }
}

function onHangup(reread: () => void): () => void {
  const hadTerminal = isatty(0);
  const onSignal = (): void => {
    // The same signal says that the terminal was closed.
    if (hadTerminal && !isatty(0)) interrupt();
    else reread();
  };
  process.on("SIGHUP", onSignal);
  return () => process.off("SIGHUP", onSignal);
}
