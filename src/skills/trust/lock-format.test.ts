import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { parseLock, renderLock, type Lock, type LockedSkill, type LockedSource } from "./lock-format.ts";

test("renderLock() writes one fact a line, sorted", () => {
  const lock: Lock = new Map([
    ["skills/b", entry({ name: "b" })],
    [
      ".agents/skills/a",
      entry({
        name: "a",
        version: "1.2.0",
        permissions: { network: ["z.example", "a.example"], env: ["KEY"] },
        tools: new Map([["run", digest("1")]]),
        uses: new Map([["b/go", { version: "2.0.0", signature: digest("2") }]]),
        files: new Map([
          ["scripts/run.py", digest("4")],
          ["SKILL.md", digest("3")],
        ]),
      }),
    ],
  ]);

  const text = renderLock(lock).replaceAll(/([0-9a-f])\1{63}/gu, "$1…");

  expect(text).toMatchInlineSnapshot(`
    "{
      "version": 1,
      "skills": {
        ".agents/skills/a": {
          "name": "a",
          "version": "1.2.0",
          "permissions": {
            "env": [
              "KEY"
            ],
            "network": [
              "a.example",
              "z.example"
            ]
          },
          "tools": {
            "run": "sha256:1…"
          },
          "uses": {
            "b/go": {
              "version": "2.0.0",
              "signature": "sha256:2…"
            }
          },
          "files": {
            "SKILL.md": "sha256:3…",
            "scripts/run.py": "sha256:4…"
          }
        },
        "skills/b": {
          "name": "b",
          "permissions": {},
          "tools": {},
          "uses": {},
          "files": {}
        }
      }
    }
    "
  `);
});

test("renderLock() writes the same bytes whatever the order was", () => {
  const files: [string, string][] = [
    ["b", digest("b")],
    ["a", digest("a")],
  ];
  const one: Lock = new Map([
    ["x", entry({ files: new Map(files) })],
    ["w", entry({})],
  ]);
  const other: Lock = new Map([
    ["w", entry({})],
    ["x", entry({ files: new Map(files.toReversed()) })],
  ]);

  expect(renderLock(other)).toBe(renderLock(one));
});

test("parseLock() gives back what renderLock() wrote, also names that mean something to JavaScript", () => {
  const lock: Lock = new Map([
    ["__proto__", entry({ name: "constructor", files: new Map([["__proto__", digest("1")]]) })],
    ["12", entry({ files: new Map([["a\nb", digest("2")]]) })],
    ["7", entry({ tools: new Map([["toString", digest("3")]]) })],
  ]);

  const parsed = parseLock(renderLock(lock));

  expect(renderLock(parsed)).toBe(renderLock(lock));
  expect(parsed.get("__proto__")?.files.get("__proto__")).toBe(digest("1"));
  expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
});

test("parseLock() gives back the servers that renderLock() wrote, with what was left out", () => {
  const tools = new Map([["echo", digest("1")]]);
  const lock: Lock = new Map();
  lock.servers = new Map([
    ["far", { tools, skills: new Map(), leftOut: new Map([["slow", digest("2")]]) }],
    ["near", { tools, skills: new Map() }],
  ]);

  expect(parseLock(renderLock(lock)).servers).toEqual(lock.servers);
});

test("parseLock() reads a lock that git checked out with other line ends", () => {
  const text = renderLock(new Map([["a", entry({})]]));

  expect(parseLock(text.replaceAll("\n", "\r\n")).size).toBe(1);
});

test("parseLock() reads what git merges out of the changes of two people", () => {
  const base: Lock = new Map(
    ["a", "b", "c"].map((name) => [`skills/${name}`, entry({ name, files: filesOf(["SKILL.md", "x", "y", "z"]) })]),
  );
  const ours = new Map(base).set("skills/a", entry({ name: "a", files: filesOf(["SKILL.md", "x2", "y", "z"]) }));
  const theirs = new Map(base)
    .set("skills/b2", entry({ name: "b2", files: filesOf(["SKILL.md"]) }))
    .set("skills/c", entry({ name: "c", files: filesOf(["SKILL.md", "x", "y", "z2"]) }));

  const merged = merge(base, ours, theirs);

  expect(merged.status).toBe(0);
  const lock = parseLock(merged.stdout);
  expect([...lock.keys()]).toEqual(["skills/a", "skills/b", "skills/b2", "skills/c"]);
  expect(lock.get("skills/a")?.files.has("x2")).toBe(true);
  expect(lock.get("skills/c")?.files.has("z2")).toBe(true);
});

test("parseLock() says that a merge was not resolved", () => {
  const base: Lock = new Map([["a", entry({ files: new Map([["SKILL.md", digest("0")]]) })]]);
  const ours: Lock = new Map([["a", entry({ files: new Map([["SKILL.md", digest("1")]]) })]]);
  const theirs: Lock = new Map([["a", entry({ files: new Map([["SKILL.md", digest("2")]]) })]]);

  const merged = merge(base, ours, theirs);

  expect(merged.status).toBe(1);
  expect(() => parseLock(merged.stdout)).toThrow(
    "it has the conflict marker of a merge on line 10; resolve the merge first",
  );
});

test("parseLock() refuses a key that a merge left twice", () => {
  const text = renderLock(new Map([["a", entry({ files: new Map([["SKILL.md", digest("1")]]) })]]));
  const line = `        "SKILL.md": "${digest("1")}"`;

  expect(text).toContain(line);
  expect(() => parseLock(text.replace(line, `${line.replaceAll("1", "2")},\n${line}`))).toThrow("it has a key twice");
});

test.for([
  ["", "JSON"],
  ["null", "it has version undefined, and this program knows 1"],
  ['{"version":2,"skills":{}}', "it has version 2, and this program knows 1"],
  ['{"version":1}', "skills is missing"],
  ['{"version":1,"skills":[]}', "skills is missing or not complete"],
  ['{"version":1,"skills":{"a":null}}', "skills: a is missing or not complete"],
  ['{"version":1,"skills":{"../a":{}}}', "does not belong there"],
  ['{"version":1,"skills":{"/a":{}}}', "does not belong there"],
  ['{"version":1,"skills":{"a":{"name":"a","permissions":{"fly":["x"]},"tools":{},"uses":{},"files":{}}}}', "fly"],
  ['{"version":1,"skills":{"a":{"name":"a","permissions":[],"tools":{},"uses":{},"files":{}}}}', "permissions"],
  ['{"version":1,"skills":{"a":{"name":"a","permissions":{},"tools":{"x":1},"uses":{},"files":{}}}}', "not a digest"],
  [
    '{"version":1,"skills":{"a":{"name":"a","permissions":{},"tools":{},"uses":{"b/c":{}},"files":{}}}}',
    "not a digest",
  ],
  [
    '{"version":1,"skills":{"a":{"name":"a","permissions":{},"tools":{},"uses":{},"files":{"x":"md5:1"}}}}',
    "not a digest",
  ],
  [
    '{"version":1,"skills":{"a":{"name":"a","permissions":{},"tools":{},"uses":{},"files":{"../x":"md5:1"}}}}',
    "belong",
  ],
  ['{"version":1,"skills":{"a":{"permissions":{},"tools":{},"uses":{},"files":{}}}}', "has no name"],
])("R16: parseLock() refuses %s", ([text = "", reason = ""]) => {
  expect(() => parseLock(text)).toThrow(reason);
});

function digest(letter: string): string {
  return `sha256:${letter.repeat(64)}`;
}

test("parseLock() gives back where skills came from, and reads a lock that does not say it", () => {
  const source: LockedSource = {
    kind: "git",
    address: "https://example.com/skills",
    ref: "main",
    commit: "a".repeat(40),
    folder: "skills/a",
  };
  const lock: Lock = new Map([
    ["a", entry({ name: "a", source })],
    ["b", entry({ name: "b" })],
  ]);

  const read = parseLock(renderLock(lock));

  expect(read.get("a")?.source).toEqual(source);
  expect(read.get("b")).not.toHaveProperty("source");
});

test.for([
  [null],
  ["git"],
  [{}],
  [{ kind: "git" }],
  [{ kind: "ftp", address: "x" }],
  [{ kind: "git", address: "" }],
  [{ kind: "git", address: 1 }],
  [{ kind: "git", address: "x", surprise: "y" }],
  [{ kind: "git", address: "x", folder: "../y" }],
  [{ kind: "git", address: "x", folder: "/y" }],
])("R16: parseLock() refuses the source %j", ([source]) => {
  const text = JSON.stringify({
    version: 1,
    skills: {
      a: { ...(JSON.parse(renderLock(new Map([["a", entry({ name: "a" })]]))) as Skills).skills["a"], source },
    },
  });

  expect(() => parseLock(text)).toThrow("a: source");
});

interface Skills {
  readonly skills: Readonly<Record<string, object>>;
}

function entry(parts: Partial<LockedSkill>): LockedSkill {
  return { name: "x", permissions: {}, tools: new Map(), uses: new Map(), files: new Map(), ...parts };
}

function filesOf(names: readonly string[]): Map<string, string> {
  return new Map(names.map((name) => [name, digest("5")]));
}

/** What real git makes of two changes. */
test("renderLock() writes what other MCP servers offered, and parseLock() gives it back", () => {
  const lock: Lock = new Map();
  const digest = `sha256:${"a".repeat(64)}`;
  lock.servers = new Map([
    ["notes/raw", { tools: new Map([["__proto__", digest]]), skills: new Map() }],
    ["github", { tools: new Map([["search", digest]]), skills: new Map([["skill://a/SKILL.md", digest]]) }],
  ]);

  const text = renderLock(lock);

  expect(Object.keys((JSON.parse(text) as { servers: object }).servers)).toEqual(["github", "notes/raw"]);
  expect(parseLock(text).servers).toEqual(lock.servers);
});

test.for([
  ['{"version": 1, "skills": {}, "servers": []}', "servers"],
  ['{"version": 1, "skills": {}, "servers": {"a": {"tools": {}}}}', "skills"],
  ['{"version": 1, "skills": {}, "servers": {"a": {"tools": {"b": "c"}, "skills": {}}}}', "is not a digest"],
])("R16: parseLock() refuses the servers of %s", ([text = "", reason = ""]) => {
  expect(() => parseLock(text)).toThrow(reason);
});

function merge(base: Lock, ours: Lock, theirs: Lock): { status: number | null; stdout: string } {
  const folder = createFolder({ base: renderLock(base), ours: renderLock(ours), theirs: renderLock(theirs) });
  const names = ["ours", "base", "theirs"].map((name) => join(folder, name));
  return spawnSync("git", ["merge-file", "-p", ...names], { encoding: "utf8" });
}
