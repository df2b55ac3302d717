import { mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { createReservedPlaces } from "./reserved-places.ts";

test("watch() leaves alone what was not reserved", () => {
  const { directory, lock } = makePlaces();
  const check = createReservedPlaces(directory).watch("tool", [{ path: lock }]);

  writeFileSync(join(directory, "free.txt"), "");

  expect(check).not.toThrow();
  expect(readdirSync(directory)).toEqual(["free.txt"]);
});

test("watch() puts back a link that was replaced or removed", () => {
  const { directory, lock } = makePlaces();
  const [other, gone] = [join(directory, "other"), join(directory, "gone")];
  for (const path of [other, gone]) symlinkSync("target", path);
  const check = createReservedPlaces(directory).watch("tool", [
    { path: lock },
    { path: other, link: "target" },
    { path: gone, link: "target" },
  ]);

  rmSync(other);
  writeFileSync(other, "evil");
  rmSync(gone);

  expect(check).toThrow("other");
  expect([other, gone].map((path) => readlinkSync(path))).toEqual(["target", "target"]);
  expect(readdirSync(directory)).toEqual(["gone", "other", "other.put-aside-1"]);
});

test("watch() names all that was put aside, where it is, and only advice that helps", () => {
  const { directory, lock } = makePlaces();
  const mcp = join(directory, ".mcp.json");
  const reserved = createReservedPlaces(directory);
  const checkBoth = reserved.watch("tool", [{ path: lock }, { path: mcp }]);
  for (const path of [lock, mcp]) writeFileSync(path, "evil");

  expect(checkBoth).toThrow(
    /the tool ran.* it or another program .*kitbag\.lock was moved to kitbag\.lock\.put-aside-1, \.mcp\.json was moved to \.mcp\.json\.put-aside-1;.*exact path/u,
  );
  const checkOwn = reserved.watch("tool", [{ path: lock }]);
  writeFileSync(lock, "evil");
  expect(checkOwn).toThrow(/^(?!.*exact path).*kitbag\.lock\.put-aside-2/u);
});

test("watch() fails every call that could have made it, and overwrites nothing that was put aside before", () => {
  const { directory, lock } = makePlaces();
  const reserved = createReservedPlaces(directory);
  writeFileSync(`${lock}.put-aside-1`, "");

  const checks = ["one", "two"].map((tool) => reserved.watch(tool, [{ path: lock }]));
  writeFileSync(lock, "evil");
  const later = (): void => reserved.watch("three", [{ path: lock }])();

  for (const check of checks) expect(check).toThrow(/kitbag\.lock was moved to kitbag\.lock\.put-aside-2/u);
  expect(later).not.toThrow();
  expect(readdirSync(directory)).toEqual(["kitbag.lock.put-aside-1", "kitbag.lock.put-aside-2"]);
});

test("watch() moves nothing of another directory that was linked to instead", () => {
  const { directory } = makePlaces();
  const [inner, other] = [join(directory, "inner"), createFolder()];
  mkdirSync(inner);
  writeFileSync(join(other, "kitbag.lock"), "of another project");
  const reserved = createReservedPlaces(directory);

  const check = reserved.watch("tool", [{ path: join(inner, "kitbag.lock") }]);
  renameSync(inner, join(directory, "away"));
  symlinkSync(other, inner);

  expect(check).toThrow("inner/kitbag.lock");
  expect(readdirSync(other)).toEqual(["kitbag.lock"]);
});

function makePlaces(): { readonly directory: string; readonly lock: string } {
  const directory = createFolder();
  return { directory, lock: join(directory, "kitbag.lock") };
}
