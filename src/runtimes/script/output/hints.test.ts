import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { openTestSandbox, runScript, writeFolder, type TestScript } from "../../../../test/support/run-script.ts";

/** How each language does what a sandbox may not let it: `read` and `there` open a file, `start` a program, `load` a package. */
const scripts: Readonly<Record<string, { readonly program: string; readonly says: Readonly<Record<string, string>> }>> =
  {
    py: {
      program: "python3",
      says: {
        read: 'open("data.csv")',
        lost: 'open("lost/gone.csv")',
        write: 'open("/usr/out.txt", "w")',
        start: 'import subprocess; subprocess.run(["git", "--version"])',
        load: "from docx import Document",
        env: 'import os; os.environ["MY_TOKEN"]',
        net: 'import urllib.request; urllib.request.urlopen("https://api.github.com/x")',
      },
    },
    js: {
      program: "node",
      says: {
        read: 'require("fs").readFileSync("data.csv")',
        lost: 'require("fs").readFileSync("lost/gone.csv")',
        write: 'require("fs").writeFileSync("/usr/out.txt", "")',
        start: 'require("child_process").execFileSync("git", ["--version"])',
        load: 'require("lodash/get")',
        env: 'if (!process.env.MY_TOKEN) { console.log("MY_TOKEN not set"); process.exit(1); }',
        net: 'require("https").get("https://api.github.com/x")',
      },
    },
    sh: {
      program: "bash",
      says: {
        read: "set -e; cat <data.csv",
        lost: "cat lost/gone.csv",
        write: "set -e; echo x >/usr/out.txt",
        start: "git --version",
        env: 'set -u; echo "$MY_TOKEN"',
      },
    },
    rb: {
      program: "ruby",
      says: {
        read: 'File.read("data.csv")',
        lost: 'File.read("lost/gone.csv")',
        write: 'File.write("/usr/out.txt", "")',
        start: 'require "open3"; Open3.capture2("git", "--version")',
        load: 'require "no_such_gem_anywhere"',
        env: 'ENV.fetch("MY_TOKEN")',
        net: 'require "net/http"; Net::HTTP.get(URI("https://api.github.com/x"))',
      },
    },
    pl: {
      program: "perl",
      says: {
        read: 'open(my $f, "<", "data.csv") or die "Cannot open data.csv: $!"',
        lost: 'open(my $f, "<", "lost/gone.csv") or die "Cannot open lost/gone.csv: $!"',
        write: 'open(my $f, ">", "/usr/out.txt") or die "Cannot write /usr/out.txt: $!"',
        load: "use Nothing::Like::This;",
        env: 'die "MY_TOKEN is not set" unless $ENV{MY_TOKEN}',
      },
    },
    php: {
      program: "php",
      says: {
        read: '<?php if (file_get_contents("data.csv") === false) exit(1);',
        lost: '<?php if (file_get_contents("lost/gone.csv") === false) exit(1);',
        env: '<?php if (!getenv("MY_TOKEN")) { echo "Please set MY_TOKEN\\n"; exit(1); }',
      },
    },
    lua: {
      program: "lua",
      says: {
        read: 'assert(io.open("data.csv"))',
        lost: 'assert(io.open("lost/gone.csv"))',
        load: 'require("nothing_like_this")',
        env: 'if not os.getenv("MY_TOKEN") then error("MY_TOKEN is required") end',
      },
    },
    R: {
      program: "Rscript",
      says: {
        read: 'read.csv("data.csv")',
        lost: 'read.csv("lost/gone.csv")',
        load: "library(nothinglikethis)",
        env: 'if (Sys.getenv("MY_TOKEN") == "") stop("MY_TOKEN is missing")',
      },
    },
  };

const hints: Readonly<Record<string, RegExp>> = {
  read: /data\.csv is in \/.*, and the script cannot see it: kitbag grant report --read \.\/data\.csv$/u,
  lost: /there is no file lost\/gone\.csv in \/.*, and no folder for it$/u,
  write: /it may write only to its private folders, and not to \/usr\/out\.txt: kitbag grant report --write \/usr\/$/u,
  start:
    /(?:does not exist inside the sandbox: |is not on this machine: install it, and then )kitbag grant report --run git$/u,
  load: /the package (?:python-docx does not exist inside the sandbox: kitbag grant report --package python-docx|lodash does not exist inside the sandbox: kitbag grant report --package npm:lodash|[\w/]+ does not exist inside the sandbox, and Kitbag installs no packages of (?:Ruby|Perl|Lua|R): put it into a folder of the skill)$/u,
  env: /it may not see the environment variable MY_TOKEN: kitbag grant report --env MY_TOKEN$/u,
  net: /it may not reach the network, and wants api\.github\.com: kitbag grant report --network api\.github\.com$/u,
};

const cases = Object.entries(scripts).flatMap(([ending, { program, says }]) =>
  Object.entries(says).map(([what, line]) => [ending, what, program, line] as const),
);

test.for(cases)(
  "a script in %s that fails for %s is told the command that cures it",
  async ([ending, what, program, line], context) => {
    needProgram(context, program);
    const directory = writeFolder({ "data.csv": "a,b\n" });

    const { outcome } = await runScript(await openTestSandbox(), script({ [`a.${ending}`]: `${line}\n` }, directory));

    expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed" } });
    if (outcome.status !== "failed") return;
    expect(outcome.error.message.split("\n→ ").at(-1)).toMatch(hints[what] ?? /never/u);
  },
);

test("a hint never sends a person to install a package for a module of the skill's own", async (context) => {
  needProgram(context, "python3");
  const files = { "scripts/a.py": "from helpers import x\n", "other/helpers/x.py": "" };

  const { outcome } = await runScript(await openTestSandbox(), script(files, writeFolder({})));

  expect(outcome).toMatchObject({ error: { message: expect.stringContaining("is one of the skill's own") } });
  expect(outcome).toMatchObject({ error: { message: expect.not.stringContaining("--package") } });
});

test("a hint does not lead a person to grant what is hidden, and looks into no folder but the caller's", async (context) => {
  needProgram(context, "bash");
  const directory = writeFolder({ ".env": "SECRET=1\n" });
  mkdirSync(join(directory, "in"));
  const beside = writeFolder({ "x.txt": "" });
  writeFileSync(join(directory, "in", "a b;c.txt"), "");

  const hintOf = async (line: string): Promise<string> => {
    const { outcome } = await runScript(
      await openTestSandbox(),
      script({ "a.sh": `${line} >&2; exit 1\n` }, directory),
    );
    const message = outcome.status === "failed" ? outcome.error.message : "";
    return message.includes("\n→ ") ? (message.split("\n→ ").at(-1) ?? "") : "";
  };

  expect(await hintOf("cat .env")).toBe(
    "it looks for .env, which is hidden from it: read the script before you grant that",
  );
  expect(await hintOf(`cat ${beside}/x.txt`)).toBe(
    `it cannot see ${beside}/x.txt; if it is there, kitbag grant report --read ${beside}/x.txt`,
  );
  expect(await hintOf(`echo "cat: x;rm -rf ~: No such file or directory"`)).not.toContain("rm -rf");
  expect(await hintOf(`printf 'cat: a\\033[2Jb: No such file or directory\\n'`)).not.toContain("\u001B");
});

function script(files: TestScript["files"], directory: string): TestScript {
  const locks = writeFolder({});
  return { files, skill: "report", options: { files: { places: { directory }, directory: locks, locks } } };
}
