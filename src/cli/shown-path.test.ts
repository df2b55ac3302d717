import { expect, test } from "vitest";

import { toShownPath } from "./render.ts";

test.for([
  ["/project/skills/a", "skills/a"],
  ["/project", "."],
  ["/project/..a/b", "..a/b"],
  ["/projects/a", "/projects/a"],
  ["/other", "/other"],
  ["/", "/"],
])("toShownPath() writes %s as %s from /project", ([path = "", shown]) => {
  expect(toShownPath(path, "/project")).toBe(shown);
});
