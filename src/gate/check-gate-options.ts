import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { isOAuthId, toTokenDigest } from "./access/token-check.ts";
import type { GateLimits, GateOAuth, GateOptions, GateToken, Rate, Route } from "./gate.ts";
import { isLoopback } from "./origin.ts";

/** The limits of a gate that is told nothing. */
export const defaultLimits: GateLimits = {
  maxBodyBytes: 4 * 1024 * 1024,
  caller: { perSecond: 2000, burst: 4000 },
  address: { perSecond: 10_000, burst: 20_000 },
  guesses: { perSecond: 1, burst: 20 },
  maxConnections: 2000,
  maxConnectionsPerCaller: 200,
  headMs: 10_000,
  requestMs: 60_000,
  minBytesPerSecond: 1024,
  slowAfterMs: 5000,
  stalledMs: 30_000,
  idleMs: 30_000,
};

/** Shortest token: about 80 bits if it is random. */
export const shortestToken = 16;

/**
 * Finds out that a gate must not be opened like this.
 *
 * @throws {KitbagError} `gate-unprotected` if the network could reach it without a token or OAuth
 * @throws {KitbagError} `option-invalid` if an option is wrong; a token is never shown
 */
export function checkGateOptions({ host = "127.0.0.1", port = 0, ...options }: GateOptions): void {
  const { tokens = [], oauth, limits = {}, routes, origins = [] } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) refuse("port", showValue(port), "a number from 0 to 65535");
  checkTokens(tokens);
  if (oauth !== undefined) checkOAuth(oauth);
  origins.forEach(checkOriginOption);
  routes.forEach(checkRoute);
  checkLimits(limits);
  if (!isLoopback(host) && tokens.length === 0 && oauth === undefined) {
    throw new KitbagError("gate-unprotected", { host });
  }
}

function checkRoute({ path }: Route): void {
  if (!path.startsWith("/")) refuse("routes", showValue(path), 'paths that start with "/"');
}

function checkOAuth({ issuer, jwksUrl, resource }: GateOAuth): void {
  checkUrl("oauth.issuer", issuer);
  if (jwksUrl !== undefined) checkUrl("oauth.jwksUrl", jwksUrl);
  if (resource === undefined || URL.canParse(resource)) return;
  refuse("oauth.resource", showValue(resource), "an address as https://tools.example.com/mcp");
}

/**
 * Finds out that tokens cannot be used.
 *
 * @throws {KitbagError} `option-invalid` if one is wrong; a token is never shown
 */
export function checkTokens(tokens: readonly GateToken[]): void {
  tokens.forEach(checkToken);
  if (new Set(tokens.map(toTokenDigest)).size < tokens.length) refuse("tokens", "one twice", "different ones");
}

function checkToken(given: GateToken, index: number): void {
  const option = `tokens[${index}]`;
  if (given.id !== undefined) checkId(given.id, `${option}.id`);
  if ("sha256" in given) {
    if (!/^[\da-f]{64}$/u.test(given.sha256)) refuse(`${option}.sha256`, "something else", "64 hexadecimal digits");
    return;
  }
  const { token } = given;
  if (typeof token !== "string" || !/^[\u0021-\u007E]+$/u.test(token)) {
    refuse(option, "something else", "letters, digits and signs without spaces");
  }
  if (token.length < shortestToken) {
    refuse(option, `${token.length} characters`, `at least ${shortestToken}, so that it cannot be guessed`);
  }
}

/** An id is a key in stores and a word in logs, and must not be taken for another one. */
function checkId(id: string, option: string): void {
  const expected = 'a name of 1 to 200 visible characters that does not begin with "oauth:" or "oauth-client:"';
  const isWrong = id === "" || id.length > 200 || /[\p{C}\p{Z}]/u.test(id) || isOAuthId(id);
  if (isWrong) refuse(option, showValue(id), expected);
}

/** Keys that come over plain HTTP could come from an attacker. */
function checkUrl(option: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "https:") return;
  if (url?.protocol === "http:" && isLoopback(url.hostname.replaceAll(/[[\]]/gu, ""))) return;
  refuse(option, showValue(value), "an https address");
}

function checkOriginOption(origin: string): void {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.origin !== origin.toLowerCase()) {
    refuse("origins", showValue(origin), "origins as https://app.example.com");
  }
}

function checkLimits(limits: Partial<GateLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    const option = `limits.${name}`;
    if (!Object.hasOwn(defaultLimits, name)) refuse(option, "an unknown limit", Object.keys(defaultLimits).join(", "));
    if (value === undefined || value === "off") continue;
    const isRight = typeof value === "number" ? value > 0 : isRate(value);
    if (!isRight) refuse(option, showValue(value), "a number above 0, or { perSecond, burst }");
  }
}

function isRate(rate: Rate): boolean {
  return typeof rate === "object" && rate.perSecond > 0 && rate.burst >= 1;
}

function refuse(option: string, found: string, expected: string): never {
  throw new KitbagError("option-invalid", { option, found, expected });
}
