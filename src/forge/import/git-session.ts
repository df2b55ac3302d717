import { KitbagError } from "../../core/errors.ts";
import { checkAddress } from "../../sandbox/download/check-address.ts";
import { runGit, type GitOptions, type GitRun } from "../../sandbox/git/run-git.ts";
import type { FetchOptions } from "./fetched.ts";
import { toLimits, type ImportLimits } from "./import-limits.ts";
import { showSource, toPlainAddress, type ImportSource } from "./import-source.ts";

/** A source that is a repository. */
export type GitSource = Extract<ImportSource, { kind: "git" }>;

/** Runs git on the repository that is fetched into, and fails with words. */
export interface GitSession {
  readonly source: GitSource;
  readonly shown: string;
  readonly limits: Required<ImportLimits>;
  /** The address without name and password. */
  readonly address: string;
  /** @throws {KitbagError} `import-failed` */
  run(args: readonly string[], options?: Partial<Pick<GitOptions, "input" | "maxOutputBytes">>): Promise<Buffer>;
  fail(reason: string): never;
}

/**
 * Opens a session for a repository of ours in `directory`, in which one address may be asked.
 *
 * @throws {KitbagError} `network-refused` if it must not be asked.
 */
export async function openGitSession(source: GitSource, directory: string, options: FetchOptions): Promise<GitSession> {
  const limits = toLimits(options.limits);
  const shown = showSource(source);
  const url = new URL(source.address);
  const protocol = url.protocol.slice(0, -1) as NonNullable<GitOptions["protocol"]>;
  const settings = protocol === "file" ? {} : await toSettings(url, options);
  const end = Date.now() + limits.limitMs;
  const fail = (reason: string, cause?: unknown): never => {
    throw new KitbagError("import-failed", { source: shown, reason }, { cause });
  };
  return {
    source,
    shown,
    limits,
    address: toPlainAddress(source.address),
    fail,
    async run(args, { input, maxOutputBytes = 16 * 1024 * 1024 } = {}) {
      const run = await runGit(args, {
        directory,
        protocol,
        settings,
        maxOutputBytes,
        limitMs: Math.max(1, end - Date.now()),
        maxDiskBytes: limits.maxDownloadBytes,
        ...(input !== undefined && { input }),
        ...(options.signal !== undefined && { signal: options.signal }),
      });
      return run.status === "ok" ? run.stdout : fail(describeRun(run, limits, url));
    },
  };
}

/** What is checked is what git connects to; and a password is neither on its command line nor in a file. */
async function toSettings(url: URL, options: FetchOptions): Promise<Record<string, string>> {
  const { host, port, addresses } = await checkAddress(url, options);
  if (!/^https?:$/u.test(url.protocol)) return {};
  const { username, password } = url;
  const list = addresses.map((address) => (address.includes(":") ? `[${address}]` : address)).join(",");
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  return {
    // An address needs no resolver.
    ...(addresses[0] !== host && { "http.curloptResolve": `${host}:${port}:${list}` }),
    ...(username !== "" && { "http.extraHeader": `Authorization: Basic ${login}` }),
  };
}

function describeRun(run: Exclude<GitRun, { status: "ok" }>, limits: Required<ImportLimits>, url: URL): string {
  switch (run.status) {
    case "missing":
      return "git is not on this machine; install it";
    case "timeout":
      return `the server took longer than ${limits.limitMs} ms`;
    case "large":
      return `it is larger than ${limits.maxDownloadBytes} bytes`;
    case "failed":
      return describeFailure(run.stderr, url);
  }
}

function describeFailure(stderr: string, url: URL): string {
  if (/Authentication failed|could not read Username|Permission denied|HTTP 40[13]|error: 40[13]/iu.test(stderr)) {
    const cure = "use an address of ssh with a key that is loaded, or https://name:token@host/…";
    return `the server wants to know who asks, or there is no such repository; ${cure}`;
  }
  if (/error: 3\d\d|redirect/iu.test(stderr)) return "the server leads on to another address: give that one";
  if (/not found|does not exist|does not appear to be a git repository/iu.test(stderr))
    return "there is no such repository";
  const lines = stderr.split("\n").filter((line) => /^(?:fatal|error|remote):/u.test(line));
  const words = hideLogin(lines.at(-1) ?? stderr, url)
    .replaceAll(/[^\P{C}]/gu, " ")
    .trim();
  return `git says ${JSON.stringify(words.slice(0, 200))}`;
}

/** Whatever git prints, the name and the password of the address are not in a message. */
function hideLogin(text: string, { username, password }: URL): string {
  const secrets = [username, password].flatMap((one) => (one === "" ? [] : [one, decodeURIComponent(one)]));
  const shown = text.replaceAll(/:\/\/[^\s/@]*@/gu, "://");
  return secrets.reduce((safe, secret) => safe.replaceAll(secret, "…"), shown);
}
