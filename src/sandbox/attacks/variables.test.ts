import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { corners, openArena, programsOf, sleep } from "../../../test/support/attacks/arena.ts";
import type { Bait } from "../../../test/support/attacks/bait.ts";
import { needProgram } from "../../../test/support/need-program.ts";

// Whatever sets up a sandbox has rights that no tool may have, so no variable of a tool may change what it does.
test.for(corners)(
  "$sandbox, $way, is not changed by variables that a script was given",
  { timeout: 60_000 },
  async (corner, context) => {
    for (const program of programsOf(corner)) needProgram(context, program);
    const arena = await openArena(corner, {
      permissions: ({ writable }) => ({
        write: [writable],
        env: Object.keys(toVariables("", "")),
        run: ["python3", "perl"],
      }),
      findSecret: (name, { writable, home }) => toVariables(writable, home)[name],
    });
    onTestFinished(() => arena.close());
    mkdirSync(join(arena.bait.home, "logs"), { mode: 0o777 });
    writeTraps(arena.bait);

    for (const language of ["bash", "python"] as const) await arena.call({ language, program: "" });
    // What is made for the next call, too.
    await sleep(300);

    expect(readdirSync(join(arena.bait.home, "logs"))).toEqual([]);
    expect(readdirSync(arena.bait.writable).filter((name) => name.startsWith("escaped"))).toEqual([]);
  },
);

function toVariables(writable: string, home: string): Readonly<Record<string, string>> {
  return {
    BASH_ENV: join(writable, "trap.sh"),
    ENV: join(writable, "trap.sh"),
    PERL5OPT: `-I${writable} -Mtrap`,
    PERL5LIB: writable,
    PYTHONPATH: writable,
    PYTHONSTARTUP: join(writable, "sitecustomize.py"),
    PYTHONUSERBASE: writable,
    NODE_OPTIONS: `--require ${join(writable, "trap.cjs")}`,
    RUBYOPT: `-r${join(writable, "trap.rb")}`,
    // The loader of every program that has these writes to where only the host could.
    LD_DEBUG: "files",
    LD_DEBUG_OUTPUT: join(home, "logs", "loader"),
    LD_LIBRARY_PATH: writable,
    GCONV_PATH: writable,
    KITBAG_SERVER: "{}",
  };
}

/** Each trap leaves a file if it runs where the home can be seen, or with rights. */
function writeTraps({ writable, home }: Bait): void {
  const secret = join(home, "data.txt");
  const put = (name: string, text: string): void => writeFileSync(join(writable, name), text, { mode: 0o755 });
  const left = join(writable, "escaped");
  put(
    "trap.sh",
    `[ ! -e ${secret} ] || : > ${left}-shell; grep -q '^CapEff:.0*$' /proc/self/status || : > ${left}-shell\n`,
  );
  put("trap.pm", `package trap; if (-e "${secret}") { open my $f, ">", "${left}-perl" } 1;\n`);
  put(
    "sitecustomize.py",
    `import os\nif os.path.exists("${secret}") or "CapEff:\\t0000000000000000" not in open("/proc/self/status").read(): open("${left}-python", "w")\n`,
  );
  put("trap.cjs", `const fs = require("fs"); if (fs.existsSync("${secret}")) fs.writeFileSync("${left}-node", "");\n`);
}
