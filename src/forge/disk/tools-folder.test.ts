import { expect, test } from "vitest";

import { explainUnwritable } from "./tools-folder.ts";

test("explainUnwritable() says what to do about a folder that may not be written, and leaves other failures alone", () => {
  const refused = Object.assign(new Error("EACCES: permission denied, mkdir"), { code: "EACCES" });
  const other = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });

  expect(explainUnwritable("/srv/.kitbag/tools", refused)).toMatchObject({
    code: "option-invalid",
    message:
      'Cannot use "/srv/.kitbag/tools": found a place where nothing may be written, expected a folder of yours: change its permissions, or make tools in another project',
  });
  expect(explainUnwritable("/srv/.kitbag/tools", other)).toBe(other);
});
