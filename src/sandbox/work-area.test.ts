import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { openWorkArea } from "./work-area.ts";

const user = process.getuid?.() ?? 0;

test("openWorkArea() makes directories that others can pass through but not list, and one that they cannot enter", () => {
  const { root, kept, own, private: secret } = openWorkArea(createFolder());

  expect([root, kept, own, secret].map((path) => statSync(path).mode & 0o777)).toEqual([0o711, 0o711, 0o711, 0o700]);
});

test("openWorkArea() gives every caller a directory of its own, and all the same kept one", () => {
  const parent = createFolder();

  const [one, other] = [openWorkArea(parent), openWorkArea(parent)];

  expect(one.own).not.toBe(other.own);
  expect(one.kept).toBe(other.kept);
});

test("remove() removes what is its own, and keeps what is kept", async () => {
  const area = openWorkArea(createFolder());
  writeFileSync(join(area.kept, "kept"), "");
  writeFileSync(join(area.own, "own"), "");

  await area.remove();

  expect([existsSync(area.own), readdirSync(area.kept)]).toEqual([false, ["kept"]]);
});

test("openWorkArea() removes what processes left that are gone, and nothing of those that run", () => {
  const parent = createFolder();
  const root = join(parent, `kitbag-${user}`);
  for (const name of ["run-999999999-abcdef/private", `run-${process.pid}-abcdef`, "run-x", "kept"]) {
    mkdirSync(join(root, name), { recursive: true });
  }

  const { own } = openWorkArea(parent);

  const left = readdirSync(root).filter((name) => join(root, name) !== own);
  expect(left.toSorted()).toEqual(["kept", `run-${process.pid}-abcdef`, "run-x"]);
});

test("openWorkArea() closes a directory of its own that was open to all", () => {
  const parent = createFolder();
  mkdirSync(join(parent, `kitbag-${user}`));
  chmodSync(join(parent, `kitbag-${user}`), 0o777);

  const { root } = openWorkArea(parent);

  expect(statSync(root).mode & 0o777).toBe(0o711);
});

test("openWorkArea() refuses a link that somebody put in its place", () => {
  const parent = createFolder();
  mkdirSync(join(parent, "elsewhere"));
  symlinkSync(join(parent, "elsewhere"), join(parent, `kitbag-${user}`));

  expect(() => openWorkArea(parent)).toThrow("somebody else made it; remove it, or set TMPDIR");
  expect(readdirSync(join(parent, "elsewhere"))).toEqual([]);
});

// Only root can make a directory of somebody else.
test.runIf(user === 0)("openWorkArea() refuses a directory that somebody else made", () => {
  const parent = createFolder();
  mkdirSync(join(parent, "kitbag-0"));
  chownSync(join(parent, "kitbag-0"), 61_234, 61_234);

  expect(() => openWorkArea(parent)).toThrow("somebody else made it");
});
