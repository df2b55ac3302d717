import { expect, test } from "vitest";

import { parseCargoLock } from "./rust-installer.ts";

const checksum = "a".repeat(64);
const registry = "registry+https://github.com/rust-lang/crates.io-index";

test("parseCargoLock() lists the crates of the index, and not those of the folder", () => {
  const text = `version = 3\n${crate("half", registry, checksum)}[[package]]\nname = "tool"\nversion = "0.1.0"\n`;

  expect(parseCargoLock(text)).toEqual([{ name: "half", version: "1.0.0", hash: `sha256:${checksum}` }]);
  expect(parseCargoLock("version = 3\n")).toEqual([]);
});

test.for([
  [crate("half", "git+https://evil.example/half#1", checksum), "only from the package index"],
  [crate("half", "registry+https://evil.example/index", checksum), "only from the package index"],
  [crate("half", registry, "short"), "no hash"],
  ["[[package", "not TOML"],
  ["package = 1", "no list of packages"],
])("parseCargoLock() refuses %j", ([text = "", reason]) => {
  expect(() => parseCargoLock(text)).toThrow(reason);
});

function crate(name: string, source: string, sum: string): string {
  return `[[package]]\nname = "${name}"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${sum}"\n`;
}
