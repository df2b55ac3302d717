import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import type { ScriptLanguage } from "../script-interface.ts";
import { findEnvironment } from "./environment.ts";

// A "!" marks those that a script stops without.
const table: readonly { language: ScriptLanguage; text: string; names: string }[] = [
  {
    language: "python",
    text: `os.environ["KEY"]; os.environ.get("HOST", "x"); os.getenv('PORT'); if "DEBUG" in os.environ: pass`,
    names: "DEBUG HOST KEY! PORT",
  },
  { language: "python", text: `os.environ["SET_HERE"] = "1"`, names: "" },
  { language: "python", text: `os.environ["BOTH"]; os.environ.get("BOTH")`, names: "BOTH" },
  {
    language: "javascript",
    text: `process.env.API_KEY; process.env["HOST"]; const { A, B = 1, c: d } = process.env; process.env?.X`,
    names: "A API_KEY B HOST X c",
  },
  {
    language: "typescript",
    text: `Deno.env.get("TOKEN"); Bun.env.OTHER; import.meta.env.VITE_X`,
    names: "OTHER TOKEN VITE_X",
  },
  {
    language: "shell",
    text: `X=1\necho "$X $HOME $API_KEY"\n: "\${TOKEN:?need it}"\nURL="\${URL:-http://x}"\nfor F in a; do echo $F; done\nread -r LINE; echo $LINE\n# $COMMENT`,
    names: "API_KEY TOKEN! URL",
  },
  { language: "ruby", text: `ENV['A']; ENV.fetch("B")`, names: "A B!" },
  { language: "perl", text: "$ENV{A}; $ENV{'B'}", names: "A B" },
  { language: "php", text: `getenv('A'); $_ENV["B"]; $_SERVER['C']`, names: "A B C" },
  { language: "lua", text: `os.getenv("A")`, names: "A" },
  { language: "r", text: `Sys.getenv("A")`, names: "A" },
  { language: "powershell", text: "$env:A; $Env:B", names: "A B" },
  { language: "other", text: "env A", names: "" },
];

test.for(table)("findEnvironment() finds the variables of $language in $text", ({ language, text, names }) => {
  const found = findEnvironment(language, text).map(({ name, required }) => name + (required ? "!" : ""));

  expect(found.join(" ")).toBe(names);
});

test("findEnvironment() takes bounded time for hostile text", () => {
  const started = process.cpuUsage();

  for (const piece of ["$", "${A", "A=$A ", "read ", "read A ", "#\n", "\n", "{a}=process.env", "environ["]) {
    for (const language of ["shell", "python", "javascript"] as const)
      findEnvironment(language, `${piece.repeat(Math.floor(300_000 / piece.length))}env`);
  }

  expect(cpuMsSince(started)).toBeLessThan(10_000);
});
