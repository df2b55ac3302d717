import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import fc from "fast-check";
import { zipSync } from "fflate";
import { expect, test } from "vitest";

import { makeRawTar, makeRawTgz, makeRawZip, type RawEntry } from "../../../test/support/make-archives.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { checkEntryPath } from "./file-tree.ts";
import { toLimits, type ImportLimits } from "./fetched.ts";
import { readArchive } from "./fetch-source.ts";

const makers = { zip: makeRawZip, tar: makeRawTar, tgz: makeRawTgz } as const;
const kinds = ["zip", "tar", "tgz"] as const;

test.for(kinds)("readArchive() unpacks a %s with folders, empty files and names of other languages", async (kind) => {
  const archive = makers[kind]([
    { name: "skills/", type: "5", mode: 0o040755 },
    { name: "skills/pdf/SKILL.md", content: "# PDF" },
    { name: "skills/pdf/empty", content: "" },
    { name: "skills/pdf/größe-文.txt", content: "ß" },
    { name: "skills/pdf/__proto__", content: "just a name" },
    { name: "run.sh", content: "echo", mode: 0o100755 },
  ]);

  const folder = await unpack(archive);

  expect(readFileSync(join(folder, "skills/pdf/SKILL.md"), "utf8")).toBe("# PDF");
  expect(readdirSync(join(folder, "skills/pdf"))).toEqual(["SKILL.md", "__proto__", "empty", "größe-文.txt"]);
  expect(statSync(join(folder, "run.sh")).mode & 0o777).toBe(0o755);
});

test("readArchive() unpacks what another library packed, also files that are not compressed", async () => {
  const text = new TextEncoder().encode("hello ".repeat(50_000));

  const folder = await unpack(zipSync({ "a/b.txt": text, "c.txt": [text, { level: 0 }] }));

  expect(readFileSync(join(folder, "a/b.txt"), "utf8")).toBe("hello ".repeat(50_000));
  expect(readFileSync(join(folder, "c.txt"), "utf8")).toHaveLength(300_000);
});

test.for([
  ["../evil.txt", "leads out"],
  ["a/../../evil.txt", "leads out"],
  ["a/..", "leads out"],
  ["/etc/evil", "an absolute name"],
  ["C:\\evil", "an absolute name"],
  ["C:evil", "an absolute name"],
  ["..\\evil.txt", "a backslash"],
  ["a\\..\\..\\evil", "a backslash"],
  ["\\\\server\\evil", "an absolute name"],
  ["a//b", "an empty part"],
  ["a/./b", "an empty part"],
  ["a\u0001b", "a control character"],
  ["aux.txt", "not every system"],
  ["a./b", "not every system"],
  ["ab:stream", "not every system"],
  [`${"d/".repeat(14)}f`, "more than 12 folders deep"],
] as const)("R15: readArchive() refuses %j in a zip and in a tar, by name", async ([name, reason]) => {
  for (const kind of kinds) {
    const archive = makers[kind]([
      { name: "good.txt", content: "good" },
      { name, content: "evil" },
    ]);

    const refused = await failure(archive);

    expect(refused).toMatchObject({ code: "import-refused", details: { source: "it", entry: name.slice(0, 200) } });
    expect(refused.message).toContain(reason);
  }
});

test.for([
  ["a hard link", { name: "evil", type: "1", link: "good.txt" }, "is a hard link"],
  ["a device", { name: "evil", type: "3" }, "is a device"],
  ["a block device", { name: "evil", type: "4" }, "is a device"],
  ["a pipe", { name: "evil", type: "6" }, "is a pipe"],
  ["a link to an absolute path", { name: "evil", type: "2", link: "/etc/passwd" }, "is a link that leads out"],
  ["a link upwards", { name: "a/evil", type: "2", link: "../../x" }, "is a link that leads out"],
] as const)("R15: readArchive() refuses %s in a tar", async ([, entry, reason]) => {
  const archive = makeRawTar([{ name: "good.txt", content: "good" }, entry]);

  expect(await failure(archive)).toMatchObject({ code: "import-refused", details: { entry: entry.name, reason } });
});

test.for([
  ["a link that leads out", { name: "evil", content: "../../etc", mode: 0o120777 }, "is a link that leads out"],
  [
    "a link with a very long goal",
    { name: "evil", content: "x".repeat(9000), mode: 0o120777 },
    "is a link that leads out",
  ],
  ["a device", { name: "evil", mode: 0o020644 }, "is a device, a pipe or a socket"],
  ["an encrypted file", { name: "evil", flags: 1 }, "is encrypted"],
  ["an unknown method", { name: "evil", method: 14 }, "is packed in a way (14) that is not known here"],
  ["two names", { name: "evil", innerName: "../evil" }, "has another name inside"],
  ["a size that is too small", { name: "evil", content: "x".repeat(100), said: 10 }, "is larger than it says"],
  ["a size that is too large", { name: "evil", content: "x", said: 10 }, "is damaged"],
] as const)("R15: readArchive() refuses %s in a zip", async ([, entry, reason]) => {
  const refused = await failure(makeRawZip([{ name: "good.txt", content: "good" }, entry]));

  expect(refused).toMatchObject({ code: "import-refused", details: { entry: "evil" } });
  expect(refused.message).toContain(reason);
});

test.for([
  [["a.txt", "a.txt"], "is there twice"],
  [["a.txt", "A.TXT"], "is the same name as"],
  [["dir/a", "DIR/b"], "is the same name as"],
  [["\u00e9.txt", "e\u0301.txt"], "is the same name as"],
  [["a", "a/b"], "is the same name as"],
  [["a/b", "a"], "is there twice"],
] as const)("R15: readArchive() refuses names that are the same on many systems: %j", async ([names, reason]) => {
  for (const kind of kinds) {
    const refused = await failure(makers[kind](names.map((name) => ({ name, content: name }))));

    expect(refused).toMatchObject({ code: "import-refused" });
    expect(refused.message).toContain(reason);
  }
});

test("readArchive() makes a link to a file that file, however it goes round, and leaves out the others", async () => {
  const archive = makeRawTar([
    { name: "a/one", type: "2", link: "../b/two" },
    { name: "b/two", type: "2", link: "./three" },
    { name: "b/three", content: "3" },
    { name: "loop", type: "2", link: "loop" },
    { name: "folder", type: "2", link: "b" },
  ]);
  const tree = await readArchive(archive, "it", toLimits());
  const folder = createFolder();

  const left = tree.write(folder);

  expect(readFileSync(join(folder, "a/one"), "utf8")).toBe("3");
  expect(left).toEqual(["loop (a link to a folder, or to nothing)", "folder (a link to a folder, or to nothing)"]);
});

test("R15: readArchive() refuses bombs before they are unpacked", async () => {
  const zeros = new Uint8Array(30 * 1024 * 1024);
  const many = Array.from({ length: 5001 }, (_, index) => ({ name: `f${index}` }));

  const refused = await Promise.all([
    failure(makeRawZip([{ name: "zeros", content: zeros }]), { maxFileBytes: 40 * 1024 * 1024 }),
    failure(makeRawTgz([{ name: "zeros", content: zeros }]), { maxFileBytes: 40 * 1024 * 1024 }),
    failure(makeRawZip([{ name: "zeros", content: zeros }])),
    failure(makeRawTgz([{ name: "huge", said: 8 * 1024 ** 3 - 1 }])),
    failure(makeRawZip(many)),
    failure(makeRawTgz(many)),
  ]);

  expect(refused.map(({ message }) => message)).toMatchInlineSnapshot(`
    [
      "Cannot import "it": the entry "zeros" makes it grow too much: it looks like a bomb",
      "Cannot import "it": the entry "zeros" makes it grow too much: it looks like a bomb",
      "Cannot import "it": the entry "zeros" is larger than 10485760 bytes",
      "Cannot import "it": the entry "huge" is larger than 10485760 bytes",
      "Cannot import "it": the entry "f5000" is one too many: there may be 5000 files and folders; take one folder, with #:folder",
      "Cannot import "it": the entry "f5000" is one too many: there may be 5000 files and folders; take one folder, with #:folder",
    ]
  `);
});

test.for([
  ["one large file", { name: "zeros", said: 8 * 1024 ** 3 - 1 }, "is larger than 10485760 bytes"],
  [
    "nothing but what is said about entries",
    { name: "about", type: "x", said: 512 * 1024 * 1024 },
    "makes it larger than 52428800 bytes",
  ],
] as const)("R15: readArchive() takes little memory for a bomb of %s in gzip", ([, entry, reason]) => {
  // Half a gigabyte in members of gzip that are all the same.
  const zeros = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  const header = makeRawTar([entry]).subarray(0, 512);
  const path = join(createFolder(), "bomb.tgz");
  writeFileSync(path, Buffer.concat([gzipSync(header), ...Array.from({ length: 32 }, () => zeros)]));

  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", measureScript, path], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  });

  expect(stderr).toBe("");
  const { message, grownBytes } = JSON.parse(stdout) as { message: string; grownBytes: number };
  expect(message).toContain(reason);
  expect(grownBytes).toBeLessThan(192 * 1024 * 1024);
});

test("R15: readArchive() unpacks nothing that is packed twice", async () => {
  const twice = gzipSync(makeRawTgz([{ name: "a", content: "a" }]));

  expect(await failure(twice)).toMatchObject({ code: "import-failed", details: { reason: "it is packed twice" } });
});

test("R15: readArchive() reads no more about entries than it has entries for", async () => {
  const about = Array.from({ length: 40 }, (_, index) => ({
    name: `p${index}`,
    type: "x",
    content: "7 a=bc\n".repeat(20),
  }));

  const refused = await failure(makeRawTar([{ name: "a", content: "a" }, ...about]), { maxFiles: 5 });

  expect(refused).toMatchObject({ code: "import-failed" });
  expect(refused.message).toContain("its entries say more than 5120 bytes about themselves");
});

test("readArchive() takes what stands behind the end of a tar, and notices that its gzip is damaged", async () => {
  const whole = Buffer.concat([makeRawTar([{ name: "a", content: "a" }]), Buffer.alloc(256 * 1024, "junk")]);
  const damaged = gzipSync(whole);
  damaged.writeUInt32LE(0, damaged.length - 8);

  const folder = await unpack(gzipSync(whole));

  expect(readdirSync(folder)).toEqual(["a"]);
  expect(await failure(damaged)).toMatchObject({ code: "import-failed" });
});

test("R15: readArchive() counts what links make of one file", async () => {
  const links = Array.from({ length: 100 }, (_, index) => ({ name: `l${index}`, type: "2", link: "big" }));
  const noise = Array.from({ length: 3000 }, (_, index) => Math.sin(index).toString(36)).join("");
  const folder = createFolder();
  const tree = await readArchive(makeRawTar([{ name: "big", content: noise }, ...links]), "it", {
    ...toLimits(),
    maxBytes: noise.length * 10,
  });

  expect(() => tree.write(folder)).toThrow("makes it larger than");
  expect(readdirSync(folder)).toEqual([]);
});

test.for([
  ["nothing", Buffer.alloc(0)],
  ["text", Buffer.from("hello")],
  ["a page", Buffer.from("<html></html>")],
  ["the beginning of a zip", makeRawZip([{ name: "a", content: "a" }]).subarray(0, 40)],
  ["a zip without its directory", Buffer.from("PK\u0003\u0004 and so on")],
  ["a zip with a broken directory", breakZip()],
  ["gzip of text", gzipSync("hello")],
  ["half a gzip", makeRawTgz([{ name: "a", content: "a".repeat(5000) }]).subarray(0, 60)],
  ["half a tar", makeRawTar([{ name: "a", content: "a".repeat(5000) }]).subarray(0, 1024)],
  ["a tar with a wrong sum", breakTar()],
  ["an empty zip", makeRawZip([])],
  ["an empty tar", makeRawTar([])],
] as const)("readArchive() says so when it gets %s", async ([, archive]) => {
  expect(await failure(archive)).toMatchObject({ code: "import-failed" });
});

test("readArchive() never writes outside of its folder, whatever the names and bytes are", async () => {
  const part = fc.oneof(fc.constantFrom("..", ".", "", "a", "b", "C:", "nul", "\\", "/"), fc.string({ maxLength: 8 }));
  const entry = fc.record({
    name: fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/").slice(0, 99)),
    link: fc.array(part, { maxLength: 5 }).map((parts) => parts.join("/").slice(0, 99)),
    type: fc.constantFrom("0", "1", "2", "3", "5", "6", "L", "x"),
    content: fc.string({ maxLength: 20 }),
  });
  const outside = createFolder({ "canary.txt": "alive" });

  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 6 }), fc.constantFrom(...kinds), async (entries, kind) => {
      const folder = join(outside, "in");
      const tree = await readArchive(makers[kind](entries), "it", toLimits()).catch(() => undefined);
      try {
        tree?.write(folder);
      } catch {
        // Refused is as good as written.
      }
      expect(readdirSync(outside).filter((name) => name !== "in")).toEqual(["canary.txt"]);
      rmSync(folder, { recursive: true, force: true });
    }),
    { numRuns: 200 },
  );
});

test.for(["SKILL.md", "a/b.txt", ".claude-plugin/plugin.json", "größe", "a b/c"])(
  "checkEntryPath() takes %s",
  (path) => {
    expect(checkEntryPath(path, 12)).toBeUndefined();
  },
);

/** Reads an archive in a process of its own, and says how much memory that took. */
const measureScript = `
  import { readFileSync } from "node:fs";
  const { readArchive } = await import("./fetch-source.ts");
  const { toLimits } = await import("./fetched.ts");
  const archive = readFileSync(process.argv[1]);
  await readArchive(archive.subarray(0, 10), "it", toLimits()).catch(() => {});
  const before = process.resourceUsage().maxRSS;
  const { message } = await readArchive(archive, "it", toLimits()).catch((cause) => cause);
  const grownBytes = (process.resourceUsage().maxRSS - before) * 1024;
  process.stdout.write(JSON.stringify({ message, grownBytes }), () => process.exit());
`;

async function unpack(archive: Uint8Array): Promise<string> {
  const tree = await readArchive(archive, "it", toLimits());
  const folder = createFolder();
  tree.write(folder);
  return folder;
}

async function failure(archive: Uint8Array, limits: ImportLimits = {}): Promise<Error> {
  const folder = createFolder();
  try {
    (await readArchive(archive, "it", toLimits(limits))).write(folder);
  } catch (cause) {
    expect(readdirSync(folder)).toEqual([]);
    return cause as Error;
  }
  throw new Error("it was unpacked");
}

function breakZip(): Buffer {
  const archive = makeRawZip([{ name: "a", content: "a" } satisfies RawEntry]);
  archive.writeUInt32LE(0, archive.indexOf("PK\u0001\u0002"));
  return archive;
}

function breakTar(): Buffer {
  const archive = makeRawTar([{ name: "a", content: "a" }]);
  archive.write("b", 0);
  return archive;
}
