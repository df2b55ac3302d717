import { expect, test } from "vitest";

import { toShownPath } from "./shown-path.ts";

test.for([
  ["/work/skills/a", "skills/a"],
  ["/work", "."],
  ["/work/..a/b", "..a/b"],
  ["/workshop/a", "/workshop/a"],
  ["/other", "/other"],
  ["/", "/"],
])("toShownPath() writes %s as %s from /work", ([path = "", shown]) => {
  expect(toShownPath(path, "/work")).toBe(shown);
});
