import { execFileSync } from "node:child_process";

import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { toAssemblyScriptJson, toBash, toJavaScript, toPython, toRustJson } from "./template.ts";

const hostile = [
  `"; import os; os.system("id") #`,
  `'''"""\\`,
  "'; rm -rf / #",
  "$(id) `id` ${HOME} $HOME \\$(id)",
  "a\nb\r\nc\td",
  "\u2028\u2029\u0000\u0007\u001B[31m",
  "../../etc/passwd",
  "ü😀\uD800",
  "*/ // <!-- </script>",
  "__proto__",
  "",
];

test("toPython() gives back every text as it was", (context) => {
  needProgram(context, "python3");
  const code = `import json\nprint(json.dumps(${toPython(hostile)}))`;

  const output = execFileSync("python3", ["-c", code], { encoding: "utf8" });

  expect(JSON.parse(output)).toEqual(hostile);
});

test("toJavaScript() gives back every text as it was", () => {
  const code = `console.log(JSON.stringify(${toJavaScript(hostile)}))`;

  const output = execFileSync(process.execPath, ["-e", code], { encoding: "utf8" });

  expect(JSON.parse(output)).toEqual(hostile);
});

test.for(hostile.filter((text) => !/[\0\uD800]/u.test(text)))("toBash() makes one word of %j", (text) => {
  const output = execFileSync("bash", ["-c", `printf '%s|' ${toBash(text)} end`], { encoding: "utf8" });

  expect(output).toBe(`${text}|end|`);
});

test.for(hostile)("literals of compiled languages hold %j in one line of plain ASCII", (text) => {
  for (const literal of [toRustJson(text), toAssemblyScriptJson(text)]) {
    expect(literal).toMatch(/^"[\u0020-\u007E]*"$/u);
    // Every quote inside has a backslash of its own before it.
    expect(literal.slice(1, -1).replaceAll(/\\./gu, "")).not.toMatch(/["\\]/u);
    expect(JSON.parse(JSON.parse(literal) as string)).toBe(text);
  }
});
