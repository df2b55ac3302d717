import { text } from "node:stream/consumers";

import { afterAll, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { writeFolder } from "../../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { defaultLimits } from "../sandbox.ts";
import { startForkServer, type ForkServer } from "./fork-server.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

test("startForkServer() imports nothing that scripts were given: it has rights that they must not have", async (context) => {
  const server = await open(context, {
    "sitecustomize.py": "import os; os._exit(9)",
    "argparse.py": "raise SystemExit(9)",
    "a.py": "import os; print(os.environ['PYTHONPATH'])",
  });

  const script = await server.start({ argv: ["/skill/a.py"], environment: {} });

  expect([await text(script.stdout), await script.exit]).toEqual(["/skill\n", { code: 0 }]);
  server.close();
});

test("start() shows a script nothing of the one before: files, variables, modules", async (context) => {
  const server = await open(context, {
    "a.py": `import os, sys, json
print(sorted(name for name in os.listdir("/tmp")), os.environ.get("A"), hasattr(json, "left"), len(os.listdir("/proc/self/fd")))
json.left = open("/tmp/left", "w")`,
  });

  const outputs: string[] = [];
  for (const environment of [{ A: "a" }, {}]) {
    outputs.push(await text((await server.start({ argv: ["/skill/a.py"], environment })).stdout));
  }

  expect(outputs).toEqual(["[] a False 5\n", "[] None False 5\n"]);
  server.close();
});

test("start() tells which signal ended a script, and goes on serving", async (context) => {
  const server = await open(context, { "a.py": "import os, sys; os.kill(os.getpid(), int(sys.argv[1]))" });
  const run = async (signal: string) => (await server.start({ argv: ["/skill/a.py", signal], environment: {} })).exit;

  expect([await run("15"), await run("0")]).toEqual([{ signal: "SIGTERM" }, { code: 0 }]);
  server.close();
});

test("kill() ends one script, and none of the others", async (context) => {
  const server = await open(context, { "a.py": "import time; time.sleep(0.5)" });
  const [one, other] = await Promise.all([
    server.start({ argv: ["/skill/a.py"], environment: {} }),
    server.start({ argv: ["/skill/a.py"], environment: {} }),
  ]);

  one.kill();

  expect([await one.exit, await other.exit]).toEqual([{ signal: "SIGKILL" }, { code: 0 }]);
  server.close();
});

test("close() ends the scripts that run", async (context) => {
  const server = await open(context, { "a.py": "import time; time.sleep(60)" });
  const script = await server.start({ argv: ["/skill/a.py"], environment: {} });

  server.close();

  expect(await script.exit).toEqual({ signal: "SIGKILL" });
  await expect(server.ended).resolves.toBeDefined();
});

async function open(
  context: Parameters<typeof needProgram>[0],
  files: Readonly<Record<string, string>>,
): Promise<ForkServer> {
  needProgram(context, "/usr/bin/python3");
  opened ??= findSandbox();
  const sandbox = await opened;
  const profile = {
    mounts: [{ source: writeFolder(files), target: "/skill" }],
    environment: { PYTHONPATH: "/skill" },
    programs: ["/usr/bin/python3"],
    limits: defaultLimits,
  };
  return startForkServer({ sandbox, profile, program: "/usr/bin/python3", directory: sandbox.area.private });
}
