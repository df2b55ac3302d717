import { join } from "node:path";
import { pathToFileURL } from "node:url";

import fc from "fast-check";
import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { isKitbagError } from "../../core/errors.ts";
import { fromLocked, isLocal, showSource, toLockedAddress, parseSource } from "./import-source.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

test.for([
  ["owner/repo", { address: "https://github.com/owner/repo.git" }],
  ["github:owner/repo.js", { address: "https://github.com/owner/repo.js.git" }],
  ["owner/repo#v1.2.0", { address: "https://github.com/owner/repo.git", ref: "v1.2.0" }],
  [
    "owner/repo#topic/x:skills/pdf/",
    { address: "https://github.com/owner/repo.git", ref: "topic/x", folder: "skills/pdf" },
  ],
  ["owner/repo#:skills/pdf", { address: "https://github.com/owner/repo.git", folder: "skills/pdf" }],
  ["owner/repo:skills/pdf", { address: "https://github.com/owner/repo.git", folder: "skills/pdf" }],
  ["gist:0123456789abcdef", { address: "https://gist.github.com/0123456789abcdef.git" }],
  [`gist:ada/0123456789abcdef#${commit}`, { address: "https://gist.github.com/0123456789abcdef.git", ref: commit }],
  ["https://gist.github.com/ada/0123456789abcdef", { address: "https://gist.github.com/0123456789abcdef.git" }],
  ["https://gist.github.com/0123456789abcdef.git", { address: "https://gist.github.com/0123456789abcdef.git" }],
  ["https://example.com/a/b.git", { address: "https://example.com/a/b.git" }],
  ["git+https://example.com/a/b.zip", { address: "https://example.com/a/b.zip" }],
  [
    "https://github.com/o/r/tree/main/skills/pdf",
    { address: "https://github.com/o/r.git", ref: "main", folder: "skills/pdf" },
  ],
  [
    "https://github.com/o/r/blob/main/pdf/SKILL.md",
    { address: "https://github.com/o/r.git", ref: "main", folder: "pdf" },
  ],
  ["https://github.com/o/r", { address: "https://github.com/o/r" }],
  ["git@example.com:team/skills.git#main", { address: "ssh://git@example.com/team/skills.git", ref: "main" }],
  ["ssh://git@example.com:2222/skills", { address: "ssh://git@example.com:2222/skills" }],
  ["git://example.com/skills", { address: "git://example.com/skills" }],
  ["file:///srv/skills.git", { address: "file:///srv/skills.git" }],
] as const)("parseSource() takes %s for a repository", ([text, expected]) => {
  expect(parseSource(text, createFolder())).toEqual({ kind: "git", ...expected });
});

test.for([
  ["npm:skills", { kind: "npm", address: "skills" }],
  ["npm:@team/skills@^1.2", { kind: "npm", address: "@team/skills", ref: "^1.2" }],
  ["npm:skills@next#:sub/pdf", { kind: "npm", address: "skills", ref: "next", folder: "sub/pdf" }],
  ["https://example.com/skills.zip?token=1", { kind: "archive", address: "https://example.com/skills.zip?token=1" }],
  ["https://example.com/v1.tar.gz#:pdf", { kind: "archive", address: "https://example.com/v1.tar.gz", folder: "pdf" }],
] as const)("parseSource() takes %s for what it is", ([text, expected]) => {
  expect(parseSource(text, createFolder())).toEqual(expected);
});

test("parseSource() finds folders, archives, repositories and files of plugins on this machine", () => {
  const here = createFolder({
    "skills/pdf/SKILL.md": "",
    "pack.tgz": "",
    "market/.claude-plugin/marketplace.json": "{}",
    "codex/.agents/plugins/marketplace.json": "{}",
  });
  const read = (text: string): object => parseSource(text, here);

  expect(read("./skills")).toEqual({ kind: "folder", address: join(here, "skills") });
  expect(read("skills")).toEqual({ kind: "folder", address: join(here, "skills") });
  expect(read("./skills#:pdf")).toEqual({ kind: "folder", address: join(here, "skills"), folder: "pdf" });
  expect(read("./skills#main")).toEqual({
    kind: "git",
    address: pathToFileURL(join(here, "skills")).href,
    ref: "main",
  });
  expect(read("pack.tgz")).toEqual({ kind: "archive", address: join(here, "pack.tgz") });
  expect(read(pathToFileURL(join(here, "pack.tgz")).href)).toEqual({
    kind: "archive",
    address: join(here, "pack.tgz"),
  });
  expect(read("skills/pdf/SKILL.md")).toEqual({ kind: "folder", address: join(here, "skills/pdf") });
  expect(read("market/.claude-plugin/marketplace.json")).toEqual({ kind: "folder", address: join(here, "market") });
  expect(read("codex/.agents/plugins/marketplace.json")).toEqual({ kind: "folder", address: join(here, "codex") });
});

test("parseSource() asks which one is meant when owner/repo is a folder here too", () => {
  const here = createFolder({ "owner/repo/SKILL.md": "" });

  expect(() => parseSource("owner/repo", here)).toThrow("Write ./owner/repo or github:owner/repo");
});

test.for([
  "",
  "   ",
  "nothing-here",
  "./nothing-here",
  "a/b/c",
  "-owner/repo",
  "owner/repo#--upload-pack=evil",
  "owner/repo#a..b",
  "owner/repo#main:../out",
  "owner/repo#main:/etc",
  "owner/repo#a b",
  "ext::sh -c evil",
  "ext://sh",
  "ftp://example.com/x",
  "javascript://x",
  "ssh://-oProxyCommand=evil/x",
  "ssh://-evil@example.com/x",
  "file://host/share",
  "https://",
  "npm:",
  "npm:../evil",
  "npm:UPPER",
  "gist:nothex",
  "a\u0000b",
  "a\nb",
  "x".repeat(3000),
])("parseSource() refuses %j", (text) => {
  expect(() => parseSource(text, createFolder())).toThrow(expect.objectContaining({ code: "import-failed" }) as Error);
});

test("parseSource() answers or throws in words, whatever it gets", () => {
  const here = createFolder();
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-composite", maxLength: 40 }), (text) => {
      try {
        expect(parseSource(text, here)).toHaveProperty("kind");
      } catch (cause) {
        expect(isKitbagError(cause, "import-failed")).toBe(true);
      }
    }),
  );
  expect(() => parseSource(undefined as never, here)).toThrow("Cannot import");
});

test("showSource() shows no password and no query", () => {
  const secret = ["pass", "word"].join("");

  const shown = [
    `https://ada:${secret}@example.com/x.git#main:a`,
    `https://ada:${secret}@example.com/x.zip?token=${secret}`,
    `ssh://git:${secret}@example.com/x.git`,
  ].map((text) => showSource(parseSource(text, createFolder())));

  expect(shown).toEqual([
    "https://example.com/x.git#main:a",
    "https://example.com/x.zip",
    "ssh://git@example.com/x.git",
  ]);
});

test("fromLocked() gives the source back that toLockedAddress() wrote, wherever the project is", () => {
  const base = createFolder({ "skills/SKILL.md": "", "x.zip": "" });
  for (const text of ["./skills", "x.zip", "https://example.com/x.zip", "npm:skills@1", "owner/repo#v1"]) {
    const source = parseSource(text, base);
    const { kind } = source;
    const ref = "ref" in source ? source.ref : undefined;
    const locked = { kind, address: toLockedAddress(source, base), ...(ref !== undefined && { ref }) };

    expect(fromLocked(locked, base)).toEqual(source);
    expect(isLocal(source)).toBe(text === "./skills" || text === "x.zip");
  }
});
