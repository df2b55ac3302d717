import { parseNetworkRule } from "./network-rule.ts";

/** The port inside at which the relay passes everything on to the proxy. */
export const relayPort = 3128;

/** The port inside at which the relay passes a connection on to the debugger. */
export const debugPort = 3129;

/**
 * Makes the environment by which programs inside find the proxy: the variables that curl, wget, git, pip, npm, Python, Ruby, Go and
 * Node read. Servers that a program starts inside are reached directly, unless a rule grants a loopback address of the host.
 */
export function egressEnvironment(rules: readonly string[] = []): Record<string, string> {
  const proxy = `http://127.0.0.1:${relayPort}`;
  const grantsLoopback = rules
    .map(parseNetworkRule)
    .some(({ kind, host }) => kind === "address" && (host.startsWith("127.") || host === "::1"));
  const direct = grantsLoopback ? "" : "localhost,127.0.0.1,::1";
  return {
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: direct,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: direct,
    NODE_USE_ENV_PROXY: "1",
  };
}
