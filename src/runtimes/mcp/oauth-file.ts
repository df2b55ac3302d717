import { createHash, randomBytes } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

import { needsLogin, toSourceKey, type McpAddress } from "../../core/mcp-source.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";

/** What a log-in leaves behind. */
interface Kept {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly verifier?: string;
  /** Of the log-in that was begun last. */
  readonly state?: string;
  /** Which authorization server it was begun at. */
  readonly discovery?: OAuthDiscoveryState;
}

/** Lets a person log in. */
export interface LogIn {
  /** Where the person comes back to. */
  readonly redirectUrl: string;
  /** Shows the address to the person. */
  show(url: URL): void;
  /** Answers with what the person brought back: the parameters of the address that they came to. */
  waitFor(): Promise<URLSearchParams>;
}

/** What a provider is made with. */
export interface OAuthFileOptions {
  /** Where tokens are kept, in files that only this user can read. */
  readonly directory: string;
  /** The secret of a client that is registered. */
  readonly clientSecret?: string | undefined;
  /** @default no log-in: only tokens that are there are used and renewed */
  readonly logIn?: LogIn | undefined;
}

/** A provider of tokens for the SDK that keeps them in a file. */
export interface OAuthFile extends OAuthClientProvider {
  /** Tells whether what a person brought back belongs to the log-in that was begun last. */
  isOwn(brought: URLSearchParams): boolean;
}

/** Makes the provider of tokens for one server. Tokens of one address are never sent to another: the file is the address's own. */
export function oauthFile(source: McpAddress, options: OAuthFileOptions): OAuthFile {
  const { oauth = {} } = source;
  const { clientSecret, logIn } = options;
  const path = join(options.directory, `${createHash("sha256").update(source.url).digest("hex").slice(0, 32)}.json`);
  const keep = (more: Partial<Kept>): void => writeKept(path, { ...readKept(path), ...more });
  const isMachine = !needsLogin(oauth);
  const redirectUrl = isMachine ? undefined : (logIn?.redirectUrl ?? "http://127.0.0.1/callback");

  return {
    isOwn: (brought) => brought.get("state") !== null && brought.get("state") === readKept(path).state,
    redirectUrl,
    clientMetadata: toMetadata(source, redirectUrl, clientSecret !== undefined),
    state() {
      const state = randomBytes(24).toString("base64url");
      keep({ state });
      return state;
    },
    clientInformation() {
      if (oauth.clientId === undefined) return findClient(readKept(path), logIn);
      return {
        client_id: oauth.clientId,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
        ...(oauth.issuer !== undefined && { issuer: oauth.issuer }),
      };
    },
    saveClientInformation: (client) => keep({ client }),
    tokens: () => readKept(path).tokens,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization(url) {
      if (logIn === undefined) throw new Error(`it needs a log-in; run: kitbag trust --mcp ${toSourceKey(source)}`);
      logIn.show(url);
    },
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => readKept(path).discovery,
    saveCodeVerifier: (verifier) => keep({ verifier }),
    codeVerifier: () => readKept(path).verifier ?? "",
    ...(isMachine && { prepareTokenRequest: (scope?: string) => toMachineRequest(oauth.scope ?? scope) }),
    invalidateCredentials(what) {
      const kept = readKept(path);
      const left = Object.entries(kept).filter(([part]) => what !== "all" && part !== what);
      writeKept(path, Object.fromEntries(left));
    },
  };
}

/** A client without a place to come back to acts for itself. */
function toMetadata(
  { oauth = {} }: McpAddress,
  redirectUrl: string | undefined,
  hasSecret: boolean,
): OAuthClientMetadata {
  const isMachine = redirectUrl === undefined;
  return {
    client_name: "Kitbag",
    redirect_uris: isMachine ? [] : [redirectUrl],
    grant_types: isMachine ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    response_types: isMachine ? [] : ["code"],
    token_endpoint_auth_method: hasSecret ? "client_secret_basic" : "none",
    ...(oauth.scope !== undefined && { scope: oauth.scope }),
  };
}

function toMachineRequest(scope: string | undefined): URLSearchParams {
  return new URLSearchParams({ grant_type: "client_credentials", ...(scope !== undefined && { scope }) });
}

/** A client that was registered for another place to come back to is of no use for a new log-in. */
function findClient({ client }: Kept, logIn: LogIn | undefined): StoredOAuthClientInformation | undefined {
  if (client === undefined || logIn === undefined || !("redirect_uris" in client)) return client;
  const places = client.redirect_uris as readonly string[];
  return places.includes(logIn.redirectUrl) ? client : undefined;
}

function readKept(path: string): Kept {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    // It is missing or cannot be read: the user logs in again.
    return {};
  }
}

function writeKept(path: string, kept: Kept): void {
  const directory = join(path, "..");
  makeHomeFolder(directory);
  chmodSync(directory, 0o700);
  writeFileAtomically(path, `${JSON.stringify(kept, null, 2)}\n`);
}
