import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../../test/support/temporary-folder.ts";
import { findNpm } from "./node-installer.ts";

test("findNpm() finds the npm beside Node before one on the path, and follows links to its directory", () => {
  const folder = realpathSync(
    createFolder({
      "lib/node_modules/npm/bin/npm-cli.js": "",
      "bin/node": "",
      "other/npm/bin/npm-cli.js": "",
      "path/x": "",
    }),
  );
  symlinkSync(join(folder, "other/npm/bin/npm-cli.js"), join(folder, "path/npm"));

  expect(findNpm(join(folder, "bin/node"), join(folder, "path"))).toBe(join(folder, "lib/node_modules/npm"));
  expect(findNpm(join(folder, "far/nowhere/node"), join(folder, "path"))).toBe(join(folder, "other/npm"));
});
