/** Rules that hold for all commands: what `--skills` means, and the exit codes. */
import { Command } from "commander";
import { expect, test, vi } from "vitest";

import { commands } from "../src/cli/commands.ts";
import { createProject, runKitbag } from "./run-kitbag.ts";

vi.setConfig({ testTimeout: 60_000 });

/** Commands that look for no skills: what they work on has a name, or is kept in the store. */
const withoutSkills = new Set([
  ...["quota", "tour", "new", "init", "add", "update", "remove", "store", "audit", "token", "connect", "completion"],
  ...["versions", "rollback", "stats", "doctor", "memory"],
]);

test("all commands that find skills have --skills, with one meaning", async () => {
  const options = await Promise.all(
    commands.map(async ({ name, load }) => {
      const parser = new Command(name);
      (await load()).define(parser);
      return [name, parser.options.find(({ long }) => long === "--skills")] as const;
    }),
  );

  const without = options.flatMap(([name, option]) => (option === undefined ? [name] : []));
  const meanings = new Set(options.flatMap(([, option]) => (option === undefined ? [] : [option.description])));
  expect(without.filter((name) => !withoutSkills.has(name))).toEqual([]);
  expect([...meanings]).toEqual(["look for skills in this folder first; may be given again"]);
});

test.for<[words: readonly string[], output: string]>([
  [["list"], "greeter/greet"],
  [["search", "greets"], "greeter/greet"],
  [["show", "greeter"], "greeter/greet"],
  [["call", "greeter/greet", "--arg1", "Ada"], "Hello Ada"],
  [["check"], "greeter"],
  [["test"], "greeter/greet"],
  [["freeze", "greeter"], "greeter/greet"],
  [["trust"], "greeter"],
  [["build", "greeter"], "greeter"],
  [["serve", "--print-config", "cursor"], "some/place"],
])("kitbag %j --skills finds a skill where nothing else would", async ([words, output]) => {
  const project = createProject({
    ".git/HEAD": "",
    "some/place/greeter/SKILL.md": "---\nname: greeter\ndescription: Greets people\n---\n\nRun the script.\n",
    "some/place/greeter/scripts/greet.sh": '#!/bin/sh\n# Greets somebody.\necho "Hello ${1:?name}"\n',
  });

  const run = await runKitbag([...words, "--skills", "some/place"], { project });

  expect(`${run.stdout}${run.stderr}`).toContain(output);
});

test.for<[code: 0 | 1 | 2, lines: readonly string[]]>([
  [
    1,
    [
      "call nope",
      "show nope",
      "check missing",
      "test missing",
      "dev nope",
      "add ./missing",
      "update nope",
      "remove nope",
      "freeze nope",
      "build nope",
      "dead show nope",
      "versions nope",
      "rollback nope 1.0.0",
      "token revoke nope",
      "approvals approve nope",
      "runs show nope",
      "grant nope --network a.example",
      "revoke nope",
      "list --module missing.ts",
    ],
  ],
  [
    2,
    [
      "lits",
      "list --nope",
      "list missing",
      "search",
      "search x --kind y",
      "call nope --input {bad --module missing.md",
      "new agent x",
      "new skill X",
      "init a b",
      "forge nope",
      "trust missing",
      "trust",
      "store nope",
      "store backup",
      "audit nope",
      "audit verify missing.jsonl",
      "dead nope",
      "stats --limit x",
      "quota nope",
      "token nope",
      "approvals nope",
      "runs nope",
      "run",
      "run x --model nope",
      "chat --model nope",
      "serve missing",
      "serve --exposure nope",
      "tour nope",
      "doctor nope",
      "connect nope",
    ],
  ],
])("commands end with exit code %i as documented, and one failure on standard error", async ([code, lines]) => {
  const project = createProject();

  const ends: (readonly [string, number | null])[] = [];
  for (const line of lines) ends.push([line, (await runKitbag(line.split(" "), { project })).code]);

  expect(ends.filter(([, found]) => found !== code)).toEqual([]);
});
