import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import {
  countInstalled,
  leftovers,
  openDependencies,
  openTestIndex,
  problemOf,
  readInstalled,
  runNode,
} from "../../../../test/support/dependency-bench.ts";
import { makeNpmPackage, makeTarball, type NpmPackage } from "../../../../test/support/make-packages.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import type { NodeRequest } from "../dependency-request.ts";

// Installers take seconds, and much longer beside other tests.
vi.setConfig({ testTimeout: 120_000 });

test("prepare() installs npm packages and those they need, for import and require", async () => {
  const { index } = await openTestIndex({ npm: [left(), right("1.2.0"), right("2.0.0")] });
  const dependencies = await openDependencies({ index });

  const prepared = await dependencies.prepare(request({ left: "^1.0.0" }));

  expect(prepared.environment).toEqual({ NODE_PATH: "/opt/packages/node" });
  expect(prepared.lock?.packages.map(({ name, version }) => `${name} ${version}`)).toEqual([
    "@s/right 1.2.0",
    "left 1.0.0",
  ]);
  expect(await runNode(prepared, "a.mjs", 'import left from "left"; console.log(left);')).toBe("left with 1.2.0");
  expect(await runNode(prepared, "a.cjs", 'console.log(require("left"));')).toBe("left with 1.2.0");
  expect(leftovers(dependencies.home)).toEqual([]);
});

test("prepare() never runs the scripts of an npm package", async () => {
  const { index, asked } = await openTestIndex({ npm: [curious([], "http://127.0.0.1:1")] });
  const dependencies = await openDependencies({ index });

  const prepared = await dependencies.prepare(request({ curious: "*" }));

  expect(await runNode(prepared, "a.cjs", 'console.log(require("curious"));')).toBe("not built");
  expect(asked).not.toContain("/ran");
});

test("prepare() runs the scripts of an npm package that was granted it, with nothing of the machine in reach", async () => {
  const secret = createFolder({ "secret.txt": "secret" });
  const npm: NpmPackage[] = [];
  const { index, asked, url } = await openTestIndex({ npm });
  npm.push(curious([join(secret, "secret.txt"), "/etc/shadow"], url));
  const dependencies = await openDependencies({ index, allowInstallScripts: ["curious"] });

  const prepared = await dependencies.prepare(request({ curious: "*" }));

  const seen = await runNode(prepared, "a.cjs", 'console.log(JSON.stringify(require("curious")));');
  expect(JSON.parse(seen)).toEqual(["ENOENT", "ENOENT", "unreachable"]);
  expect(asked).not.toContain("/ran");
});

test("prepare() refuses packages whose own code puts a link in their place", async () => {
  const script = 'rm -rf "$INIT_CWD/node_modules" && ln -s /etc "$INIT_CWD/node_modules"';
  const { index } = await openTestIndex({
    npm: [makeNpmPackage({ name: "sly", manifest: { scripts: { postinstall: script } } })],
  });
  const dependencies = await openDependencies({ index, allowInstallScripts: ["sly"] });

  const found = await problemOf(dependencies.prepare(request({ sly: "*" })));

  expect(found.problem).toBe("broken");
  expect(found.reason).toContain("has put a link where the packages should be");
  expect(countInstalled(dependencies.home)).toBe(0);
});

test("prepare() gives the same npm packages for the same lock, whatever the index has by now", async () => {
  const npm = [left(), right("1.2.0")];
  const { index } = await openTestIndex({ npm });
  const [here, there] = [await openDependencies({ index }), await openDependencies({ index })];
  const one = await here.prepare(request({ left: "*" }));
  npm.push(right("1.9.0"));
  cpSync(join(here.home, "locks"), join(there.home, "locks"), { recursive: true });

  const other = await there.prepare(request({ left: "*" }));

  expect(readInstalled(other)).toEqual(readInstalled(one));
});

test("prepare() refuses an npm package that is not the one that was locked", async () => {
  const npm = [right("1.0.0")];
  const { index } = await openTestIndex({ npm });
  const [here, there] = [await openDependencies({ index }), await openDependencies({ index })];
  await here.prepare(request({ "@s/right": "1" }));
  npm.splice(0, 1, makeNpmPackage({ name: "@s/right", version: "1.0.0", files: { "index.cjs": "evil();" } }));
  cpSync(join(here.home, "locks"), join(there.home, "locks"), { recursive: true });

  const found = await problemOf(there.prepare(request({ "@s/right": "1" })));

  expect(found.problem).toBe("hash");
  expect(found.cure).toContain("find out why");
  expect(countInstalled(there.home)).toBe(0);
});

test("prepare() lets no npm package write outside of its place", async () => {
  const manifest = { name: "up", version: "1.0.0", main: "index.cjs" };
  const bytes = makeTarball({
    "package/package.json": JSON.stringify(manifest),
    "package/index.cjs": "module.exports = 1;",
    "package/../../../escaped.cjs": "evil();",
    "/tmp/kitbag-escaped.cjs": "evil();",
  });
  const { index } = await openTestIndex({ npm: [{ file: "up-1.0.0.tgz", bytes, manifest }] });
  const dependencies = await openDependencies({ index });

  const { mounts } = await dependencies.prepare(request({ up: "*" }));

  const names = readdirSync(dependencies.home, { recursive: true, encoding: "utf8" });
  const directory = join("packages", mounts[0]?.source.split("/").at(-2) ?? "", "content", "up");
  expect(names.filter((name) => name.includes("escaped") && !name.startsWith(directory))).toEqual([]);
  expect(existsSync("/tmp/kitbag-escaped.cjs")).toBe(false);
});

test.for([
  ["an address", (url: string) => `${url}/files/right-1.0.0.tgz`],
  ["a repository", (url: string) => `git+${url}/right.git`],
  ["a path", () => "file:../../../etc"],
] as const)("prepare() refuses an npm package that needs another one from %s", async ([, toRange]) => {
  const other = await openTestIndex({ npm: [right("1.0.0")] });
  const { index } = await openTestIndex({
    npm: [makeNpmPackage({ name: "left", manifest: { dependencies: { "@s/right": toRange(other.url) } } })],
  });
  const dependencies = await openDependencies({ index });

  await problemOf(dependencies.prepare(request({ left: "*" })));

  expect(countInstalled(dependencies.home)).toBe(0);
  expect(other.asked).toEqual([]);
});

test("prepare() refuses npm packages whose files are on another host", async () => {
  const other = await openTestIndex({});
  const { index } = await openTestIndex({
    npm: [left(), right("1.0.0")],
    instead(incoming, response) {
      if (incoming.url?.startsWith("/files/") !== true) return false;
      response.writeHead(302, { location: `${other.url}${incoming.url}` }).end();
      return true;
    },
  });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(request({ left: "*" })));

  expect(found.problem).toBe("other-host");
  expect(other.asked).toEqual([]);
});

test("prepare() says that an npm package is not on the index, or not in this version", async () => {
  const { index } = await openTestIndex({ npm: [right("1.0.0")] });
  const dependencies = await openDependencies({ index });

  const missing = await problemOf(dependencies.prepare(request({ "@s/stranger": "*" })));
  const version = await problemOf(dependencies.prepare(request({ "@s/right": "^7" })));

  expect(missing).toMatchObject({
    problem: "not-found",
    package: "@s/stranger",
    reason: "it is not on the package index",
  });
  expect(version).toMatchObject({ problem: "not-found", package: "@s/right" });
});

test("prepare() says that the npm index answers with errors", async () => {
  const { index } = await openTestIndex({
    instead(_, response) {
      response.statusCode = 500;
      response.end("no");
      return true;
    },
  });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(request({ left: "*" })));

  expect(found).toMatchObject({ problem: "index" });
  expect(found.reason).toContain("500");
});

test("prepare() installs npm packages from a folder of tarballs without any network", async () => {
  const npm = [left(), right("1.2.0"), right("1.10.0"), right("1.11.0-beta.1")];
  const tarballs = Object.fromEntries(npm.map(({ file, bytes }) => [file, bytes]));
  const wheelhouse = createFolder({ ...tarballs, "broken.tgz": "what is this", "hello-1.0-py3-none-any.whl": "" });
  const dependencies = await openDependencies({ wheelhouse });

  const prepared = await dependencies.prepare(request({ left: "^1.0.0" }));
  const missing = await problemOf(dependencies.prepare(request({ stranger: "*" })));

  expect(await runNode(prepared, "a.mjs", 'import left from "left"; console.log(left);')).toBe("left with 1.10.0");
  expect(missing).toMatchObject({
    problem: "not-found",
    package: "stranger",
    reason: "it is not in the folder of packages",
  });
  expect(missing.cure).toContain("npm pack stranger");
});

function request(packages: Readonly<Record<string, string>>): NodeRequest {
  return { language: "node", packages };
}

function left(): NpmPackage {
  return makeNpmPackage({
    name: "left",
    manifest: { dependencies: { "@s/right": "^1.0.0" } },
    files: { "index.cjs": 'module.exports = "left with " + require("@s/right");\n' },
  });
}

function right(version: string): NpmPackage {
  return makeNpmPackage({ name: "@s/right", version });
}

/** A package whose script writes down what it can see of the machine. */
function curious(files: readonly string[], url: string): NpmPackage {
  const script = `
    const fs = require("node:fs");
    const look = (file) => { try { fs.readFileSync(file); return "read"; } catch (cause) { return cause.code; } };
    const seen = ${JSON.stringify(files)}.map(look);
    fetch("${url}/ran").then(() => "reached", () => "unreachable").then((network) => {
      fs.writeFileSync("index.cjs", "module.exports = " + JSON.stringify([...seen, network]));
    });
  `;
  return makeNpmPackage({
    name: "curious",
    manifest: { scripts: { postinstall: "node script.cjs", preinstall: "node script.cjs" } },
    files: { "index.cjs": 'module.exports = "not built";', "script.cjs": script },
  });
}
