import { expect, test } from "vitest";

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
  [{ read: ["/etc"] }, { read: ["."] }],
  [{ read: ["~/x"] }, { read: ["."] }],
  [{ write: ["./data"] }, { read: ["./data"] }],
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
