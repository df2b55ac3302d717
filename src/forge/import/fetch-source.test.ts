import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { existsSync, symlinkSync } from "node:fs";

import { expect, onTestFinished, test } from "vitest";

import { createImportProject, skillText } from "../../../test/support/import-project.ts";
import { makeRawTgz, makeRawZip } from "../../../test/support/make-archives.ts";
import { makeTarball, type NpmPackage } from "../../../test/support/make-packages.ts";
import { startIndex, type IndexContent, type TestIndex } from "../../../test/support/package-index.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { fetchSource } from "./fetch-source.ts";
import { importSkills } from "./import-skills.ts";

test("importSkills() imports the skills of an npm package, pins version and digest, and runs no script of it", async () => {
  const project = createImportProject();
  const canary = join(project.directory, "canary");
  const index = await startRegistry({ npm: [makePackage("1.2.0", { postinstall: `touch ${canary}` })] });

  const report = await importSkills("npm:pdf-skills", { ...project, registry: index.url });

  expect(report.skills).toMatchObject([{ name: "pdf" }]);
  expect(existsSync(canary)).toBe(false);
  expect(project.lock().get(".kitbag/skills/pdf")?.source).toEqual({
    kind: "npm",
    address: "pdf-skills",
    version: "1.2.0",
    integrity: expect.stringMatching(/^sha512-/u) as string,
    folder: "skills/pdf",
  });
});

test.for([
  ["pdf-skills", "2.0.0"],
  ["pdf-skills@^1", "1.2.0"],
  ["pdf-skills@1.0.0", "1.0.0"],
  ["pdf-skills@latest", "2.0.0"],
] as const)("fetchSource() takes of npm:%s the version %s", async ([wanted, version]) => {
  const { url } = await startRegistry({ npm: ["1.0.0", "1.2.0", "2.0.0"].map((one) => makePackage(one)) });
  const [address = "", ref] = wanted.split("@");

  const fetched = await fetchSource({ kind: "npm", address, ...(ref !== undefined && { ref }) }, { registry: url });
  fetched.dispose();

  expect(fetched.resolved.version).toBe(version);
});

test("fetchSource() says which versions there are, and that a package is not known", async () => {
  const { url: registry } = await startRegistry({ npm: [makePackage("1.0.0")] });

  const version = fetchSource({ kind: "npm", address: "pdf-skills", ref: "^9" }, { registry });
  const missing = fetchSource({ kind: "npm", address: "nope" }, { registry });

  await expect(version).rejects.toThrow('there is no version "^9"; the newest are 1.0.0');
  await expect(missing).rejects.toThrow("status 404");
});

test.for([
  ["other bytes", { integrity: `sha512-${Buffer.alloc(64).toString("base64")}` }, "its digest is another one"],
  ["a weak digest", { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, "its digest is another one"],
  ["no digest", { integrity: undefined }, "the registry names no digest"],
  ["no archive", { tarball: 5 }, "has no archive"],
] as const)("fetchSource() refuses a package with %s", async ([, dist, reason]) => {
  const { url } = await startRegistry({}, dist);

  await expect(fetchSource({ kind: "npm", address: "pdf-skills" }, { registry: url })).rejects.toThrow(reason);
});

test("R5: fetchSource() follows a registry to no other private host", async () => {
  const inner = await startRegistry({ npm: [makePackage("1.0.0")] });
  const { url } = await startRegistry({}, { tarball: `${inner.url}/files/pdf-skills-1.0.0.tgz` });

  const fetching = fetchSource({ kind: "npm", address: "pdf-skills" }, { registry: url });

  await expect(fetching).rejects.toMatchObject({ code: "network-refused" });
  expect(inner.asked).toEqual([]);
});

test.for(["{", "null", "[]", '{"versions":{"__proto__":{}},"dist-tags":{"latest":"__proto__"}}', '{"versions":5}'])(
  "fetchSource() says so when a registry answers with %s",
  async (text) => {
    const { url } = await startRegistry({
      instead(_request, response) {
        response.end(text);
        return true;
      },
    });

    await expect(fetchSource({ kind: "npm", address: "pdf-skills" }, { registry: url })).rejects.toMatchObject({
      code: "import-failed",
    });
  },
);

test("importSkills() imports an archive from an address, and a folder of it", async () => {
  const project = createImportProject();
  const zip = makeRawZip([
    { name: "skills-1.0/skills/pdf/SKILL.md", content: skillText("pdf") },
    { name: "skills-1.0/skills/csv/SKILL.md", content: skillText("csv") },
  ]);
  const { url, host } = await serveFile(zip);

  const report = await importSkills(`${url}?token=secret#:skills/pdf`, { ...project, allowHosts: [host] });

  expect(report.skills).toMatchObject([{ name: "pdf", source: { address: url, folder: "skills/pdf" } }]);
  expect(JSON.stringify(report)).not.toContain("secret");
});

test("fetchSource() holds an archive against the digest that somebody named", async () => {
  const path = join(createFolder({ "x.tgz": makeRawTgz([{ name: "SKILL.md", content: skillText("x") }]) }), "x.tgz");
  const source = { kind: "archive", address: path } as const;
  const fetched = await fetchSource(source, {});
  fetched.dispose();
  const { integrity = "" } = fetched.resolved;

  const same = await fetchSource({ ...source, integrity }, {});
  same.dispose();

  expect(same.resolved).toEqual({ integrity });
  await expect(fetchSource({ ...source, integrity: "sha256-AAAA" }, {})).rejects.toThrow("its digest is another one");
});

test("fetchSource() says what is wrong with a path", async () => {
  const folder = createFolder({ "a.txt": "a", "big.zip": "x".repeat(2000) });
  symlinkSync("/etc", join(folder, "link"));

  const failing = [
    fetchSource({ kind: "folder", address: join(folder, "nope") }, {}),
    fetchSource({ kind: "folder", address: join(folder, "a.txt") }, {}),
    fetchSource({ kind: "folder", address: folder, folder: "link" }, {}),
    fetchSource({ kind: "archive", address: join(folder, "nope.zip") }, {}),
    fetchSource({ kind: "archive", address: join(folder, "big.zip") }, { limits: { maxDownloadBytes: 1000 } }),
  ].map((one) => one.then(String, (cause: Error) => cause.message.replaceAll(folder, "…")));

  expect(await Promise.all(failing)).toMatchInlineSnapshot(`
    [
      "Cannot import "…/nope": there is no such folder",
      "Cannot import "…/a.txt": it is not a folder",
      "Cannot import "…#:link": there is no folder "link" in it",
      "Cannot import "…/nope.zip": there is no such file",
      "Cannot import "…/big.zip": it is larger than 1000 bytes",
    ]
  `);
});

function makePackage(version: string, scripts: Readonly<Record<string, string>> = {}): NpmPackage {
  const manifest = { name: "pdf-skills", version, scripts };
  const bytes = makeTarball({
    "package/package.json": JSON.stringify(manifest),
    "package/skills/pdf/SKILL.md": skillText("pdf"),
  });
  return { file: `pdf-skills-${version}.tgz`, bytes, manifest };
}

/** A registry; `dist` changes what it says about the archive of its only package. */
async function startRegistry(content: IndexContent, dist?: object): Promise<TestIndex> {
  const own = makePackage("1.0.0");
  const index: TestIndex = await startIndex({
    ...content,
    ...(dist !== undefined && {
      npm: [own],
      instead(request, response) {
        if (request.url !== "/pdf-skills") return false;
        const tarball = `http://${request.headers.host}/files/${own.file}`;
        const versions = { "1.0.0": { dist: { tarball, integrity: "sha512-AAAA", ...dist } } };
        response.end(JSON.stringify({ "dist-tags": { latest: "1.0.0" }, versions }));
        return true;
      },
    }),
  });
  onTestFinished(() => index.close());
  return index;
}

async function serveFile(bytes: Uint8Array): Promise<{ readonly url: string; readonly host: string }> {
  const server = createServer((_request, response) => void response.end(bytes));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}/skills.zip`, host };
}
