import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import type { Permissions } from "../core/permissions.ts";
import { describePermissions, isNothing, permissionsBeyond } from "./permissions-beyond.ts";

test.for<[Permissions, Permissions]>([
  [{ network: ["api.example.com"] }, { network: ["api.example.com"] }],
  [{ network: ["api.example.com"] }, { network: ["*.example.com"] }],
  [{ network: ["*.api.example.com"] }, { network: ["*.example.com"] }],
  [{ network: ["API.example.com:8443"] }, { network: ["*.example.com:8443"] }],
  [{ read: ["./data/a.csv"] }, { read: ["./data"] }],
  [{ read: ["./data/**"] }, { read: ["./data/"] }],
  [{ read: ["./data"] }, { read: ["."] }],
  [{ read: ["./data"] }, { write: ["./data"] }],
  [{ write: ["/srv/x/y"] }, { write: ["/"] }],
  [{ read: ["./.git"] }, { read: ["."] }],
  [{ write: ["./.github/workflows"] }, { write: ["./.github"] }],
  [
    { env: ["TOKEN"], run: ["git"] },
    { env: ["TOKEN"], run: ["git", "ls"] },
  ],
  [{}, {}],
])("permissionsBeyond() finds nothing in %o beyond %o", ([asked, granted]) => {
  expect(permissionsBeyond(asked, granted)).toEqual({});
});

test.for<[Permissions, Permissions]>([
  [{ network: ["example.com"] }, { network: ["*.example.com"] }],
  [{ network: ["*.example.com"] }, { network: ["example.com"] }],
  [{ network: ["evil-example.com"] }, { network: ["*.example.com"] }],
  [{ network: ["api.example.com:22"] }, { network: ["api.example.com"] }],
  [{ network: ["api.example.com"] }, { network: ["api.example.com:22"] }],
  [{ network: ["*"] }, { network: ["*.example.com"] }],
  [{ read: ["./data/../.."] }, { read: ["./data", "."] }],
  [{ read: ["../x"] }, { read: ["."] }],
  [{ read: ["./database"] }, { read: ["./data"] }],
  [{ read: ["../../../etc"] }, { read: [".."] }],
  [{ read: ["../.."] }, { read: ["..", "../x"] }],
  [{ read: ["/etc"] }, { read: ["."] }],
  [{ read: ["~/x"] }, { read: ["."] }],
  [{ write: ["./data"] }, { read: ["./data"] }],
  [{ read: ["./.env"] }, { read: ["."] }],
  [{ write: ["./.git"] }, { write: ["./"] }],
  [{ write: ["./.git/hooks"] }, { write: ["./.git"] }],
  [{ write: ["~/.bashrc"] }, { write: ["~"] }],
  [{ env: ["TOKENS"] }, { env: ["TOKEN"] }],
  [{ run: ["git"] }, {}],
])("permissionsBeyond() finds all of %o beyond %o", ([asked, granted]) => {
  expect(permissionsBeyond(asked, granted)).toEqual(asked);
});

test("describePermissions() says in one line what isNothing() says there is", () => {
  const asked = { network: ["a.example", "b.example"], write: ["./out"] };

  expect(describePermissions(asked)).toBe("write ./out; network a.example, b.example");
  expect([isNothing(asked), isNothing({}), isNothing({ read: [] })]).toEqual([false, true, true]);
});

test("permissionsBeyond() compares by where paths really lead, if it knows the project", () => {
  const root = createFolder();
  const directory = join(root, "project");
  mkdirSync(join(directory, "data/june"), { recursive: true });
  symlinkSync(root, join(directory, "data/out"));
  symlinkSync("june", join(directory, "data/latest"));
  symlinkSync(directory, join(root, "link"));
  const beyond = (read: string, granted: string, from = directory): boolean =>
    !isNothing(permissionsBeyond({ read: [read] }, { write: [granted] }, { directory: from, home: root }));

  for (const path of ["./data/out", "./data/out/new/deep", "./data/../..", "~/project", "./*"]) {
    expect([path, beyond(path, "./data")]).toEqual([path, true]);
  }
  for (const path of ["./data/june", "./data/latest/x", "./data/new/deep", join(directory, "data"), "./data/**"]) {
    expect([path, beyond(path, "./data")]).toEqual([path, false]);
  }
  expect(beyond("./data/x", "data", join(root, "link"))).toBe(false);
  expect(beyond("../../../etc", "..")).toBe(true);
  expect(beyond("./data", "..")).toBe(false);
});
