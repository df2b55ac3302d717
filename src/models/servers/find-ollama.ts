/** `OLLAMA_HOST` is a host, a port or a URL; what a server listens on with `0.0.0.0` is reached on this machine. */
export function findOllama(env: Readonly<Record<string, string | undefined>>): {
  readonly option: string;
  readonly url: string;
} {
  const option = "OLLAMA_HOST";
  const host = env[option]?.trim() || "127.0.0.1:11434";
  const whole = /^https?:\/\//u.test(host) ? host : `http://${host.replace(/^:/u, "127.0.0.1:")}`;
  const url = URL.parse(whole);
  if (url === null) return { option, url: whole };
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  // The usual ports of the web are left out of a URL that says them: only one without any gets ours.
  if (url.port === "" && !/:\d+\/?$/u.test(whole) && url.protocol === "http:") url.port = "11434";
  url.pathname = /\/v1\/?$/u.test(url.pathname) ? url.pathname : `${url.pathname.replace(/\/$/u, "")}/v1`;
  return { option, url: url.href };
}
