import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { checkAddress } from "../../sandbox/download/guarded-fetch.ts";
import { type GitOptions, type GitRun, runGit } from "../../sandbox/run-git.ts";
import { createStage, type Fetched, type FetchOptions, type ImportLimits, toLimits } from "./fetched.ts";
import { createFileTree, type FileTree } from "./file-tree.ts";
import { type ImportSource, showSource, toPlainAddress } from "./import-source.ts";

/**
 * Fetches one commit of a repository. Nothing is checked out: the files are read out of the commit, each by its name and size, so
 * that no hook, filter, submodule or link of the repository ever counts.
 *
 * @throws {KitbagError} `import-failed`, `import-refused`, `network-refused`
 */
export async function fetchGit(source: GitSource, options: FetchOptions): Promise<Fetched> {
  const stage = createStage();
  try {
    const repository = join(stage.directory, "repository");
    const directory = join(stage.directory, "files", toFolderName(source));
    for (const folder of [repository, directory]) mkdirSync(folder, { recursive: true });
    const session = await openGitSession(source, repository, options);
    await session.run(["init", "--quiet", "--bare", "--template=", "."]);
    const wanted = await findRef(session);
    const place = "refs/kitbag/fetched";
    const depth = ["--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--quiet"];
    await session.run(["fetch", ...depth, "--", session.address, `+${wanted.name}:${place}`]);
    const commit = (await session.run(["rev-parse", "--verify", `${place}^{commit}`])).toString("utf8").trim();
    const { tree, notes } = await readCommit(session, commit);
    const left = tree.write(directory);
    return {
      source: { ...source, ...(wanted.ref !== undefined && { ref: wanted.ref }) },
      directory,
      resolved: { commit },
      notes: [...notes, ...left.map((one) => `left out ${one}`)],
      dispose: stage.dispose,
    };
  } catch (cause) {
    stage.dispose();
    throw cause;
  }
}

/** A skill that says no name of its own is called like the folder that it is in. */
function toFolderName({ address, folder }: GitSource): string {
  const name = basename(folder ?? new URL(address).pathname).replace(/\.git$/u, "");
  return /^[A-Za-z0-9][\w.-]*$/u.test(name) ? name : "repository";
}

/** What is fetched of a repository. */
interface WantedRef {
  /** What git asks for: the full name of a ref, or a commit. */
  readonly name: string;
  /** What the person asked for, if anything. */
  readonly ref?: string;
}

/**
 * Finds the branch, the tag or the commit that is meant: a branch goes before a tag of the same name.
 *
 * @throws {KitbagError} `import-failed` if the repository has none of this name.
 */
async function findRef(session: GitSession): Promise<WantedRef> {
  const { ref } = session.source;
  if (ref !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(ref)) return { name: ref, ref };
  const refs = parseRefs(await session.run(["ls-remote", "--quiet", "--", session.address]));
  if (ref === undefined) {
    if (!refs.has("HEAD")) session.fail("the repository is empty, or names no branch; name one with #branch");
    return { name: "HEAD" };
  }
  const name = [`refs/heads/${ref}`, `refs/tags/${ref}`, ref].find((candidate) => refs.has(candidate));
  if (name !== undefined) return { name, ref };
  const tips = /^[0-9a-f]{7,}$/u.test(ref) ? [...refs].filter(([, commit]) => commit.startsWith(ref)) : [];
  const [tip] = new Set(tips.map(([, commit]) => commit));
  if (tip !== undefined) return { name: tip, ref };
  return session.fail(describeMissing(ref, [...refs.keys()]));
}

function parseRefs(output: Buffer): Map<string, string> {
  const lines = output.toString("utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, commit, name] = /^([0-9a-f]{40,64})\t(\S+)$/u.exec(line) ?? [];
      return commit === undefined || name === undefined || name.endsWith("^{}") ? [] : [[name, commit] as const];
    }),
  );
}

const mostNamed = 8;

function describeMissing(ref: string, names: readonly string[]): string {
  if (/^[0-9a-f]{7,}$/u.test(ref)) return `it has no branch or tag ${ref}; give all 40 digits of a commit`;
  const known = names.flatMap((name) => /^refs\/(?:heads|tags)\/(.+)$/u.exec(name)?.[1] ?? []);
  const more = known.length > mostNamed ? ", …" : "";
  const shown = known.slice(0, mostNamed).map((name) => JSON.stringify(name));
  return `it has no branch or tag ${JSON.stringify(ref)}; it has ${shown.join(", ") || "none"}${more}`;
}

/** The files of a commit. */
interface CommitFiles {
  readonly tree: FileTree;
  /** What was left out, in words. */
  readonly notes: readonly string[];
}

interface CommitEntry {
  readonly mode: string;
  readonly object: string;
  readonly bytes: number;
  readonly path: string;
}

/**
 * Reads the files of a commit, or of one folder in it, into memory. All names and sizes are checked before anything is read.
 *
 * @throws {KitbagError} `import-failed`, `import-refused`
 */
async function readCommit(session: GitSession, commit: string): Promise<CommitFiles> {
  const { source, limits } = session;
  const tree = createFileTree(session.shown, limits);
  const root = source.folder === undefined ? commit : `${commit}:${source.folder}`;
  const listed = await session.run(["ls-tree", "-r", "-l", "-z", "--full-tree", root]).catch((cause: unknown) => {
    if (source.folder === undefined) throw cause;
    return session.fail(`there is no folder ${JSON.stringify(source.folder)} in it`);
  });
  const entries = parseEntries(listed);
  if (entries.length === 0) session.fail("there are no files in it");
  const modules = entries.filter(({ mode }) => mode === "160000");
  const wanted = entries.filter(({ mode }) => mode !== "160000");
  for (const { mode, path, bytes } of wanted) {
    if (mode !== "120000") tree.announce(path, bytes);
    else if (bytes > longestLink) tree.refuse(path, "is a link that leads out");
  }
  const contents = await readObjects(session, wanted);
  for (const [index, { mode, path }] of wanted.entries()) {
    const bytes = contents[index] as Uint8Array;
    if (mode === "120000") tree.addLink(path, new TextDecoder().decode(bytes));
    else tree.addFile(path, { bytes, isExecutable: mode === "100755" });
  }
  return { tree, notes: modules.map(({ path }) => `left out ${path} (another repository)`) };
}

const longestLink = 4096;

/** `100644 blob 0123… 42\tpath`, each with a NUL behind it. */
function parseEntries(listed: Buffer): CommitEntry[] {
  const lines = listed.toString("utf8").split("\0");
  return lines.flatMap((line) => {
    const [, mode, object, bytes = "", path] = /^(\d{6}) \w+ ([0-9a-f]{40,64}) +(-|\d+)\t([^]*)$/u.exec(line) ?? [];
    if (mode === undefined || object === undefined || path === undefined) return [];
    return [{ mode, object, bytes: bytes === "-" ? 0 : Number(bytes), path }];
  });
}

/** Reads files by their digests, in one go: `<digest> blob <bytes>`, a line feed, the bytes, a line feed. */
async function readObjects(session: GitSession, entries: readonly CommitEntry[]): Promise<Uint8Array[]> {
  const sum = entries.reduce((total, { bytes }) => total + bytes + 128, 0);
  const input = entries.map(({ object }) => `${object}\n`).join("");
  const output = await session.run(["cat-file", "--batch"], { input, maxOutputBytes: sum });
  let place = 0;
  return entries.map(({ object, bytes, path }) => {
    const end = output.indexOf(0x0a, place);
    const head = output.toString("latin1", place, end);
    if (end === -1 || head !== `${object} blob ${bytes}`) session.fail(`the file ${JSON.stringify(path)} is missing`);
    place = end + 1 + bytes + 1;
    return output.subarray(end + 1, end + 1 + bytes);
  });
}

/** A source that is a repository. */
export type GitSource = Extract<ImportSource, { kind: "git" }>;

/** Runs git on the repository that is fetched into, and fails with words. */
interface GitSession {
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
async function openGitSession(source: GitSource, directory: string, options: FetchOptions): Promise<GitSession> {
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
