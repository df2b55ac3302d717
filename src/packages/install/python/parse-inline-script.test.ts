import { expect, test } from "vitest";

import { parseInlineScript } from "../load-dependency-request.ts";
import { renderRequirement } from "./parse-requirement.ts";

test("parseInlineScript() reads the packages and the Python of a script", () => {
  const text = [
    "#!/usr/bin/env python3",
    "# /// script",
    '# requires-python = ">=3.11"',
    "# dependencies = [",
    '#   "requests<3", # why',
    "#   \"rich; sys_platform == 'linux'\",",
    "# ]",
    "#",
    "# [tool.uv]",
    '# index-url = "https://evil.example"',
    "# ///",
    "import requests",
  ].join("\r\n");

  const found = parseInlineScript(text, "a.py");

  expect(found?.requiresPython).toBe(">=3.11");
  expect(found?.requirements.map(renderRequirement)).toEqual(["requests<3", "rich ; sys_platform == 'linux'"]);
});

test("parseInlineScript() finds nothing in a script without a block", () => {
  expect(parseInlineScript("# /// other\n# ///\nprint(1)\n", "a.py")).toBeUndefined();
});

test.for([
  ["# /// script\n# dependencies = []\nprint(1)", "does not end"],
  ["# /// script\n# dependencies = [\n# ///\n", "not TOML"],
  ['# /// script\n# dependencies = "requests"\n# ///\n', "not a list"],
  ["# /// script\n# dependencies = [1]\n# ///\n", "not a text"],
  ['# /// script\n# dependencies = ["a @ https://evil.example"]\n# ///\n', "an address or a path"],
  ["# /// script\n# ///\n\n# /// script\n# ///\n", "more than one block"],
])("parseInlineScript() refuses %j", ([text = "", reason]) => {
  expect(() => parseInlineScript(text, "a.py")).toThrow(reason);
});
