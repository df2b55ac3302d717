import { chmodSync, existsSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { makeHomeFolder } from "./home.ts";

test("makeHomeFolder() makes all folders for their owner alone, and takes those that are there", () => {
  const base = createFolder();
  symlinkSync(base, join(base, "link"));

  makeHomeFolder(join(base, "link/home/.kitbag/audit"));
  makeHomeFolder(join(base, "home/.kitbag/audit"));

  const folders = ["home", "home/.kitbag", "home/.kitbag/audit"].map((path) => join(base, path));
  expect(folders.map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
});

test("makeHomeFolder() says which folder is in the way, and what to do", () => {
  const base = createFolder({ file: "" });
  symlinkSync("gone", join(base, "link"));
  const reasonFor = (folder: string): string => {
    try {
      makeHomeFolder(folder, "/the/home");
      return "it was made";
    } catch (cause) {
      return String(cause).replaceAll(base, "base");
    }
  };

  expect(
    ["/proc/nohome/.kitbag", join(base, "file/.kitbag"), join(base, "file"), join(base, "link/.kitbag")].map(reasonFor),
  ).toMatchInlineSnapshot(`
    [
      "KitbagError: Cannot use the folder "/the/home" of Kitbag: no folder can be made in "/proc"; set KITBAG_HOME to a folder that you can write",
      "KitbagError: Cannot use the folder "/the/home" of Kitbag: "base/file" is not a folder; set KITBAG_HOME to a folder that you can write",
      "KitbagError: Cannot use the folder "/the/home" of Kitbag: "base/file" is not a folder; set KITBAG_HOME to a folder that you can write",
      "KitbagError: Cannot use the folder "/the/home" of Kitbag: "base/link" is not a folder; set KITBAG_HOME to a folder that you can write",
    ]
  `);
  expect(existsSync("/proc/nohome")).toBe(false);
});

test.skipIf(process.getuid?.() === 0)("makeHomeFolder() refuses a folder that its user may not write", () => {
  const base = createFolder();
  chmodSync(base, 0o555);

  expect(() => makeHomeFolder(base)).toThrow(`you may not write in "${base}"; set KITBAG_HOME`);
  expect(() => makeHomeFolder(join(base, "a/b"))).toThrow(`you may not write in "${base}"; set KITBAG_HOME`);
});
