import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { createReservedPlaces } from "./reserved-places.ts";

test("watch() leaves alone what was there before, and what the tool may not write", () => {
  const { directory, lock } = makePlaces();
  const reserved = createReservedPlaces({ directory, fixed: [lock] });
  writeFileSync(lock, "ours");

  const check = reserved.watch("tool", { write: ["./"] });
  const other = reserved.watch("other", { read: ["./"] });
  writeFileSync(lock, "ours, too");

  expect(() => [check(), other()]).not.toThrow();
  expect(readdirSync(directory)).toEqual(["kitbag.lock"]);
});

test("watch() fails every call that could have made it, and overwrites nothing that was put aside before", () => {
  const { directory, lock } = makePlaces();
  const reserved = createReservedPlaces({ directory, fixed: [lock, lock] });
  writeFileSync(`${lock}.put-aside-1`, "");

  const checks = ["one", "two"].map((tool) => reserved.watch(tool, { write: ["./"] }));
  writeFileSync(lock, "evil");
  const later = (): void => reserved.watch("three", { write: ["./"] })();

  for (const check of checks) expect(check).toThrow(/kitbag\.lock.*put aside/u);
  expect(later).not.toThrow();
  expect(readdirSync(directory)).toEqual(["kitbag.lock.put-aside-1", "kitbag.lock.put-aside-2"]);
});

test("watch() moves nothing of another directory that was linked to instead", () => {
  const { directory } = makePlaces();
  const [inner, other] = [join(directory, "inner"), createFolder()];
  mkdirSync(inner);
  writeFileSync(join(other, "kitbag.lock"), "of another project");
  const reserved = createReservedPlaces({ directory, fixed: [join(inner, "kitbag.lock")] });

  const check = reserved.watch("tool", { write: ["./"] });
  renameSync(inner, join(directory, "away"));
  symlinkSync(other, inner);

  expect(check).toThrow("inner/kitbag.lock");
  expect(readdirSync(other)).toEqual(["kitbag.lock"]);
});

function makePlaces(): { readonly directory: string; readonly lock: string } {
  const directory = createFolder();
  return { directory, lock: join(directory, "kitbag.lock") };
}
