import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, onTestFinished, test, vi } from "vitest";

import { createRepository, serveGit, type GitServer, type TestRepository } from "../../../test/support/git-server.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { fetchGit, type GitSource } from "./fetch-git.ts";
import type { Fetched, FetchOptions } from "./fetched.ts";

test("fetchGit() fetches the newest state of a repository over HTTP, and says which commit it is", async () => {
  const repository = createRepository();
  repository.commit({ "SKILL.md": "old" });
  const commit = repository.commit({ "SKILL.md": "new", "scripts/run.py": "print(1)" });

  const fetched = await fetch(repository);

  expect(fetched.resolved).toEqual({ commit });
  expect(readTree(fetched)).toEqual({ "SKILL.md": "new", "scripts/run.py": "print(1)" });
});

test("fetchGit() finds a branch, a tag, an annotated tag and a commit, also one that no branch has", async () => {
  const repository = createRepository();
  const first = repository.commit({ "a.txt": "first" });
  repository.git("tag", "v1");
  const second = repository.commit({ "a.txt": "second" });
  repository.git("tag", "--annotate", "--message", "two", "v2");
  repository.git("branch", "topic/x");
  repository.commit({ "a.txt": "third" });

  const found = await Promise.all(
    ["v1", "v2", "topic/x", first, second, second.slice(0, 10)].map((ref) => fetch(repository, { ref })),
  );

  expect(found.map(({ resolved }) => resolved.commit)).toEqual([first, second, second, first, second, second]);
});

test("fetchGit() takes a branch before a tag of the same name", async () => {
  const repository = createRepository();
  const first = repository.commit({ "a.txt": "first" });
  repository.commit({ "a.txt": "second" });
  repository.git("tag", "same");
  repository.git("branch", "same", first);

  const { resolved } = await fetch(repository, { ref: "same" });

  expect(resolved.commit).toBe(first);
});

test("fetchGit() fetches one folder, and nothing beside it is even counted", async () => {
  const repository = createRepository();
  repository.commit({ "skills/pdf/SKILL.md": "pdf", "large.txt": "x".repeat(100_000), "skills/csv/SKILL.md": "csv" });

  const fetched = await fetch(repository, { folder: "skills/pdf" }, { limits: { maxFileBytes: 1000, maxFiles: 2 } });

  expect(readTree(fetched)).toEqual({ "SKILL.md": "pdf" });
});

test.for([
  [{ ref: "nope" }, 'it has no branch or tag "nope"; it has "main"'],
  [{ ref: "0123456" }, "it has no branch or tag 0123456; give all 40 digits of a commit"],
  [{ ref: "0".repeat(39) + "1" }, "git says"],
  [{ folder: "nope" }, 'there is no folder "nope" in it'],
] as const)("fetchGit() says what is not there: %j", async ([wanted, reason]) => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });

  await expect(fetch(repository, wanted)).rejects.toMatchObject({
    code: "import-failed",
    message: expect.stringContaining(reason) as string,
  });
});

test("fetchGit() runs no hook, no filter and no submodule of a repository", async () => {
  const repository = createRepository();
  const inner = createRepository();
  inner.commit({ "inner.txt": "inner" });
  const canary = join(repository.directory, "canary");
  repository.commit({
    ".gitattributes": "* filter=evil\n*.bin filter=lfs diff=lfs merge=lfs\n",
    ".gitmodules": `[submodule "inner"]\n\tpath = inner\n\turl = ${pathToFileURL(inner.directory).href}\n`,
    "big.bin": "version https://git-lfs.github.com/spec/v1\n",
    "a.txt": "a",
  });
  repository.git("config", "filter.evil.smudge", `touch ${canary}`);
  repository.git("update-index", "--add", "--cacheinfo", `160000,${inner.git("rev-parse", "HEAD")},inner`);
  repository.git("commit", "--quiet", "--message", "module");
  repository.git("config", "core.hooksPath", join(repository.directory, ".git/hooks"));
  for (const hook of ["post-checkout", "post-merge", "reference-transaction"]) {
    const path = join(repository.directory, ".git/hooks", hook);
    writeFileSync(path, `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  }

  const fetched = await fetch(repository);

  expect(existsSync(canary)).toBe(false);
  expect(existsSync(join(fetched.directory, "inner"))).toBe(false);
  expect(fetched.notes).toEqual(["left out inner (another repository)"]);
  expect(readTree(fetched)["big.bin"]).toContain("git-lfs");
});

test("fetchGit() makes a link to a file that file, leaves out one to a folder, and refuses one that leads out", async () => {
  const repository = createRepository();
  repository.commit({ "skills/a/SKILL.md": "a", "AGENTS.md": "agents" });
  symlinkSync("AGENTS.md", join(repository.directory, "CLAUDE.md"));
  symlinkSync("skills/a", join(repository.directory, "link"));
  repository.commit({});
  const good = await fetch(repository);
  symlinkSync("../../../etc/passwd", join(repository.directory, "skills/a/evil"));
  repository.commit({});

  const evil = fetch(repository);

  expect(readTree(good)).toMatchObject({ "CLAUDE.md": "agents" });
  expect(good.notes).toEqual(["left out link (a link to a folder, or to nothing)"]);
  await expect(evil).rejects.toMatchObject({
    code: "import-refused",
    details: { entry: "skills/a/evil", reason: "is a link that leads out" },
  });
});

test("fetchGit() refuses names that a tree was made with by hand", async () => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  const blob = repository.git("hash-object", "-w", "a.txt");
  for (const [name, reason] of [
    ["a\\b", "has a backslash in its name"],
    ["A.txt", 'is the same name as "A.txt" on many systems'],
    ["C:", "has an absolute name"],
    ["nul", "has a name that not every system can hold"],
  ] as const) {
    const tree = makeTree(repository, [`100644 blob ${blob}\ta.txt`, `100644 blob ${blob}\t${name}`]);
    repository.git("update-ref", "refs/heads/evil", repository.git("commit-tree", "-m", "evil", tree));

    await expect(fetch(repository, { ref: "evil" })).rejects.toMatchObject({
      code: "import-refused",
      message: expect.stringContaining(reason) as string,
    });
  }
});

test("fetchGit() keeps to its limits: bytes, files, a single file, and what is downloaded", async () => {
  const repository = createRepository();
  const noise = Array.from({ length: 60_000 }, (_, index) => Math.sin(index).toString(36)).join("");
  repository.commit({ "a.txt": "a".repeat(2000), "b.txt": "b".repeat(2000), "c/noise.txt": noise });
  const server = await serveGit(repository);

  const failures = [{ maxBytes: 3000 }, { maxFiles: 2 }, { maxFileBytes: 100 }, { maxDownloadBytes: 10_000 }].map(
    (limits) =>
      fetch(repository, {}, { limits }, server).then(
        () => "fetched",
        (cause: Error) => cause.message.replace(server.url, "…"),
      ),
  );

  expect(await Promise.all(failures)).toMatchInlineSnapshot(`
    [
      "Cannot import "…": the entry "b.txt" makes it larger than 3000 bytes",
      "Cannot import "…": the entry "c/noise.txt" is one too many: there may be 2 files and folders; take one folder, with #:folder",
      "Cannot import "…": the entry "a.txt" is larger than 100 bytes",
      "Cannot import "…": it is larger than 10000 bytes",
    ]
  `);
});

test("fetchGit() does not wait for a server that hangs, and leaves nothing behind", async () => {
  const openSockets = new Set<object>();
  const server = createServer((socket) => {
    openSockets.add(socket);
    socket.on("close", () => openSockets.delete(socket)).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const temporary = useTemporary();
  const start = Date.now();

  const fetching = fetchGit(
    { kind: "git", address: `http://${host}/x.git` },
    { allowHosts: [host], limits: { limitMs: 700 } },
  );

  await expect(fetching).rejects.toThrow("the server took longer than 700 ms");
  expect(Date.now() - start).toBeLessThan(30_000);
  await expect.poll(() => openSockets.size, { timeout: 10_000 }).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
});

test("fetchGit() stops when it is told to, in the middle of an answer", async () => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  const controller = new AbortController();
  const server = await serveGit(repository, (request, response) => {
    if (request.method !== "POST") return false;
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).write("0008");
    setTimeout(() => controller.abort(new Error("enough")), 50);
    return true;
  });

  const fetching = fetch(repository, {}, { signal: controller.signal }, server);

  await expect(fetching).rejects.toThrow("enough");
});

test.for([
  ["text", "text/html", "<html>no repository here</html>"],
  ["a packet that lies about its length", "application/x-git-upload-pack-advertisement", "ffffhello"],
  ["nothing", "application/x-git-upload-pack-advertisement", ""],
  ["refs that are none", "application/x-git-upload-pack-advertisement", "001e# service=git-upload-pack\n0000zzzz"],
] as const)("fetchGit() says so when a server answers with %s", async ([, type, body]) => {
  const repository = createRepository();
  const server = await serveGit(repository, (_request, response) => {
    response.writeHead(200, { "content-type": type }).end(body);
    return true;
  });

  const fetching = fetch(repository, {}, {}, server);

  await expect(fetching).rejects.toMatchObject({ code: "import-failed" });
});

test("fetchGit() refuses a pack that is broken", async () => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  let posts = 0;
  const server = await serveGit(repository, (request, response) => {
    if (request.method !== "POST" || (posts += 1) < 2) return false;
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
    response.end("000dpackfile\n0014\u0001PACKgarbage!!!0000");
    return true;
  });

  await expect(fetch(repository, {}, {}, server)).rejects.toMatchObject({ code: "import-failed" });
});

test("fetchGit() asks nobody for a password, and says what to do where one is needed", async () => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  const server = await serveGit(repository, (_request, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    return true;
  });

  await expect(fetch(repository, {}, {}, server)).rejects.toThrow(
    "the server wants to know who asks, or there is no such repository",
  );
});

test("fetchGit() sends the name and the password of the address, and has them in no message", async () => {
  const password = ["hunter", "2"].join("");
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  const seen: (string | undefined)[] = [];
  const server = await serveGit(repository, (request, response) => {
    seen.push(request.headers.authorization);
    const expected = `Basic ${Buffer.from(`ada:${password}`).toString("base64")}`;
    if (request.headers.authorization === expected) return false;
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    return true;
  });
  const address = (secret: string): string => server.url.replace("://", `://ada:${secret}@`);
  const options = { allowHosts: [server.host] };

  const fetched = keep(await fetchGit({ kind: "git", address: address(password) }, options));
  const wrong = await fetchGit({ kind: "git", address: address("wrongsecret") }, options).catch(String);
  const missing = await fetchGit({ kind: "git", address: address(password), ref: "nope" }, options).catch(String);

  expect(readTree(fetched)).toEqual({ "a.txt": "a" });
  expect(seen.length).toBeGreaterThan(0);
  expect(`${String(wrong)} ${String(missing)}`).not.toMatch(/hunter|wrongsecret|ada/u);
});

test("R5: fetchGit() connects to no address of this machine that nobody allowed, and follows no redirect to one", async () => {
  const repository = createRepository();
  repository.commit({ "a.txt": "a" });
  const inner = await serveGit(repository);
  const outer = await serveGit(repository, (request, response) => {
    response.writeHead(302, { location: `http://${inner.host}${request.url ?? ""}` }).end();
    return true;
  });

  const direct = fetchGit({ kind: "git", address: inner.url.replace("http:", "https:") }, {});
  const plain = fetchGit(
    { kind: "git", address: "http://example.com/x.git" },
    { lookup: () => Promise.resolve(["93.184.216.34"]) },
  );
  const rebound = fetchGit(
    { kind: "git", address: "https://example.com/x.git" },
    { lookup: () => Promise.resolve(["169.254.169.254"]) },
  );
  const redirected = fetch(repository, {}, {}, outer);

  await expect(direct).rejects.toMatchObject({
    code: "network-refused",
    message: expect.stringContaining("loopback") as string,
  });
  await expect(plain).rejects.toThrow("http is not encrypted");
  await expect(rebound).rejects.toThrow("a link-local or metadata address");
  await expect(redirected).rejects.toThrow("the server leads on to another address");
  expect(inner.asked).toEqual([]);
});

test("fetchGit() reads a repository of this machine by its file address", async () => {
  const repository = createRepository();
  const commit = repository.commit({ "a.txt": "a" });

  const fetched = keep(await fetchGit({ kind: "git", address: pathToFileURL(repository.directory).href }, {}));

  expect(fetched.resolved.commit).toBe(commit);
});

test("fetchGit() says that a repository is empty", async () => {
  await expect(fetch(createRepository())).rejects.toThrow("the repository is empty, or names no branch");
});

async function fetch(
  repository: TestRepository,
  wanted: Pick<GitSource, "ref" | "folder"> = {},
  options: FetchOptions = {},
  server?: GitServer,
): Promise<Fetched> {
  const { url, host } = server ?? (await serveGit(repository));
  return keep(await fetchGit({ kind: "git", address: url, ...wanted }, { allowHosts: [host], ...options }));
}

function keep(fetched: Fetched): Fetched {
  onTestFinished(() => fetched.dispose());
  return fetched;
}

function readTree({ directory }: Fetched): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  return Object.fromEntries(
    files.map((item) => {
      const path = join(item.parentPath, item.name);
      return [path.slice(directory.length + 1), readFileSync(path, "utf8")];
    }),
  );
}

function makeTree(repository: TestRepository, lines: readonly string[]): string {
  const file = join(repository.directory, ".git", "tree.txt");
  return repository.git(
    "-c",
    `alias.make=!printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} > '${file}'; git mktree < '${file}'`,
    "make",
  );
}

/** Lets temporary files of this test be in a folder of its own. */
function useTemporary(): string {
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}
