import { chmod, mkdtemp } from "node:fs/promises";
import { join } from "node:path";

import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import { isMcpProgram, type McpAddress, type McpProgram, type McpSource } from "../../core/mcp-source.ts";
import type { FoundSandbox } from "../../sandbox/find-sandbox.ts";
import type { Lookup } from "../../sandbox/egress/network-rule.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { ReservedPlaces } from "../../sandbox/reserved-places.ts";
import type { Limits } from "../../sandbox/sandbox.ts";
import type { FindReplaced } from "../../sandbox/watch-shields.ts";
import { createSnapshots, type Snapshots } from "../../sandbox/snapshots.ts";
import type { Dependencies } from "../../packages/install/create-dependencies.ts";
import type { FindSecret } from "../script/load-secrets.ts";
import {
  connectServer,
  describeServerError,
  type McpConnection,
  type ServerWay,
  toMcpFailure,
} from "./connect-server.ts";
import type { Definitions } from "./definitions.ts";
import type { LogIn } from "./oauth-file.ts";
import { openAddress } from "./open-address.ts";
import { programTransport, type ProgramTransport } from "./program-transport.ts";
import { startServer, type StartedProgram } from "./start-program.ts";

/** How servers are started and reached. */
export interface ConnectorOptions {
  /** Where programs run: asked when the first is started. `off` is asked for only by a source that says so. */
  readonly findSandbox: (name?: "off") => Promise<FoundSandbox>;
  /** What is shielded, in a sandbox that was found; without one nothing is held back. */
  readonly toPlaces: (sandbox: FoundSandbox) => { readonly places: GrantPlaces; readonly reserved?: ReservedPlaces };
  /** Installs packages for servers that are named with `npx`. @default `npx` itself is started */
  readonly prepare?: Dependencies["prepare"];
  /** Kitbag's home: log-ins are kept there. */
  readonly home: string;
  /** Values for names of variables, tokens and headers. @default none */
  readonly findSecret?: FindSecret | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** The largest message of a server. @default 16 MiB */
  readonly maxMessageBytes?: number;
  /** Finds the addresses of servers over HTTP. @default the system's resolver */
  readonly lookup?: Lookup;
}

/** One attempt to connect. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly logIn?: LogIn | undefined;
  readonly onDefinitions: (definitions: Definitions) => void;
  readonly onContent: ServerWay["onContent"];
}

/** A connection, and the program behind it. */
export interface Connected {
  readonly connection: McpConnection;
  /** None of a server over HTTP. */
  readonly program?: ProgramTransport;
  /**
   * Puts aside what the program has made at shielded places since it was started.
   *
   * @throws {KitbagError} `permission-refused` if there was something, `grant-changed` if it may have lost a shield.
   */
  readonly check?: () => void;
  /** Finds a shielded place that was replaced since the program was started. */
  readonly findReplaced?: FindReplaced;
}

/** Connects to a server, once. */
export type Connector = (source: McpSource, attempt: Attempt) => Promise<Connected>;

const usualMessageBytes = 16 * 1024 * 1024;

/**
 * Makes the function that connects to servers.
 *
 * Contract: it rejects with `mcp-failed`, or with what keeps a program from starting, and leaves nothing running then.
 */
export function createConnector(options: ConnectorOptions): Connector {
  const findPlace = createPlaces(options);
  const { findSecret = () => undefined, maxMessageBytes = usualMessageBytes, home, limits, lookup } = options;

  async function startProgram(source: McpProgram): Promise<Omit<Started, "source">> {
    const place = await findPlace(source);
    const { process, close, ...facts } = await startServer(source, {
      ...{ ...place, ...options.toPlaces(place.sandbox), findSecret, limits, prepare: options.prepare },
    });
    const transport = programTransport(process, { maxBytes: maxMessageBytes });
    void transport.gone.then(close);
    return { transport, ...facts };
  }

  async function connectProgram(source: McpProgram, attempt: Attempt, isLegacy = false): Promise<Connected> {
    const started = { source, ...(await startProgram(source)) };
    const made = await greet(started, attempt, isLegacy);
    if ("connection" in made) return made;
    // Some older servers die of a question that they do not know; they are asked nothing then.
    if (made.diedItself && !isLegacy) return connectProgram(source, attempt, true);
    throw made.failure;
  }

  return (source, attempt) => {
    if (isMcpProgram(source)) return connectProgram(source, attempt);
    const directory = join(home, "mcp");
    return connectAddress(source, attempt, { findSecret, directory, maxBytes: maxMessageBytes, lookup });
  };
}

interface Started extends Pick<StartedProgram, "secrets" | "check" | "findReplaced"> {
  readonly source: McpProgram;
  readonly transport: ProgramTransport;
}

type Greeted = Connected | { readonly diedItself: boolean; readonly failure: KitbagError };

async function greet(
  { source, transport, secrets, check, findReplaced }: Started,
  attempt: Attempt,
  isLegacy: boolean,
): Promise<Greeted> {
  const { signal, onDefinitions, onContent } = attempt;
  let isDead = false;
  void transport.gone.then(() => (isDead = true));
  try {
    const way = { source, transport, secrets, gone: transport.gone, onDefinitions, onContent, isLegacy };
    return { connection: await connectServer(way, signal), program: transport, check, findReplaced };
  } catch (cause) {
    // The connection ends a moment before the program is known to be gone.
    if (!signal.aborted)
      await Promise.race([transport.gone, new Promise((resolve) => setTimeout(resolve, 100).unref())]);
    const diedItself = isDead && !signal.aborted && transport.wasEnded === undefined;
    await transport.close();
    const reason = isDead && !signal.aborted ? await transport.gone : describeServerError(cause, secrets);
    return { diedItself, failure: toMcpFailure(source, secrets.show(reason), cause) };
  }
}

async function connectAddress(
  source: McpAddress,
  attempt: Attempt,
  options: Omit<Parameters<typeof openAddress>[1], "logIn">,
): Promise<Connected> {
  const { signal, logIn, ...told } = attempt;
  const open = () => openAddress(source, { ...options, logIn });
  const connect = async (): Promise<Connected> => {
    const { transport, secrets } = await open();
    return { connection: await connectServer({ source, transport, secrets, ...told }, signal) };
  };
  try {
    return await connect();
  } catch (cause) {
    const { UnauthorizedError } = await import("@modelcontextprotocol/client");
    if (isKitbagError(cause)) throw cause;
    if (!(cause instanceof UnauthorizedError) || logIn === undefined || source.oauth === undefined) {
      throw toFailure(source, cause);
    }
    return logInAndConnect(source, { open, connect, logIn });
  }
}

interface LoggingIn {
  readonly open: () => ReturnType<typeof openAddress>;
  readonly connect: () => Promise<Connected>;
  readonly logIn: LogIn;
}

/** The person was shown where to log in; what they bring back is changed for a token, and kept. */
async function logInAndConnect(source: McpAddress, { open, connect, logIn }: LoggingIn): Promise<Connected> {
  try {
    const brought = await logIn.waitFor();
    const { transport, oauth } = await open();
    if (oauth?.isOwn(brought) !== true) throw new Error("what came back belongs to another log-in");
    await transport.finishAuth(brought);
    await transport.close();
    return await connect();
  } catch (cause) {
    throw isKitbagError(cause) ? cause : toFailure(source, cause);
  }
}

function toFailure(source: McpAddress, cause: unknown): KitbagError {
  return toMcpFailure(source, `${new URL(source.url).origin}: ${describeServerError(cause, undefined)}`, cause);
}

interface Place {
  readonly sandbox: FoundSandbox;
  readonly snapshots: Snapshots;
}

/** Sandboxes, each looked for once. */
function createPlaces({ findSandbox }: ConnectorOptions): (source: McpProgram) => Promise<Place> {
  const found = new Map<McpProgram["sandbox"], Promise<Place>>();
  async function open(off: "off" | undefined): Promise<Place> {
    const sandbox = await findSandbox(off);
    const directory = await mkdtemp(join(sandbox.area.own, "mcp-"));
    await chmod(directory, 0o711);
    return { sandbox, snapshots: createSnapshots(directory) };
  }
  return ({ sandbox: off }) => {
    const place = found.get(off) ?? open(off);
    found.set(off, place);
    place.catch(() => found.delete(off));
    return place;
  };
}
