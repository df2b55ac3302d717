import { expect, test } from "vitest";

import { checkPackageLock } from "./node-installer.ts";

const integrity = "sha512-x";

test("checkPackageLock() lists the packages with their hashes", () => {
  const lock = {
    packages: {
      "": { version: "0.0.0" },
      "node_modules/left": { version: "1.0.0", integrity },
      "node_modules/left/node_modules/@s/right": { version: "2.0.0", integrity },
      "node_modules/left/node_modules/part": { version: "3.0.0", inBundle: true },
      "node_modules/alias": { name: "real", version: "4.0.0", integrity },
    },
  };

  expect(checkPackageLock(lock).map(({ name, version }) => `${name} ${version}`)).toEqual([
    "left 1.0.0",
    "@s/right 2.0.0",
    "real 4.0.0",
  ]);
});

test.for([
  ["comes from an address", { integrity, resolved: "https://evil.example/a.tgz" }, "from https://evil.example/a.tgz"],
  ["comes from a repository", { resolved: "git+ssh://git@evil.example/a.git#1" }, "from git+ssh"],
  ["is a link", { link: true, resolved: "../secret" }, "from ../secret"],
  ["has no hash", { version: "1.0.0" }, "the index gives no hash"],
] as const)("checkPackageLock() refuses a package that %s", ([, entry, reason]) => {
  expect(() => checkPackageLock({ packages: { "node_modules/a": entry } })).toThrow(reason);
});
