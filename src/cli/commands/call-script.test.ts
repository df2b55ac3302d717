/** `kitbag call` of scripts, in the real sandbox of this machine. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import {
  createProject,
  runKitbag,
  type KitbagRun,
  type Project,
  type RunKitbagOptions,
} from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag call runs an argparse script that knows nothing of Kitbag, with flags", async (context) => {
  needProgram(context, "python3");
  const project = projectWith({ "repeat.py": argparseScript });

  const run = await callScript(project, "repeat", ["--text", "$(id) --x", "--times", "2", "--upper"]);

  expect(run).toEqual({ code: 0, stdout: "$(ID) --X\n$(ID) --X\n", stderr: opened });
});

test("kitbag call gives a script JSON from a pipe, and prints one document with --json", async (context) => {
  needProgram(context, "python3");
  const project = projectWith({ "repeat.py": argparseScript });

  const run = await callScript(project, "repeat", ["--input", "-", "--json"], { stdin: '{"text": "é", "times": 1}' });

  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: "é" });
});

test.for([
  [["in.csv", "-o", "out.json"]],
  [["-o", "out.json", "in.csv"]],
  [["in.csv", "--output=out.json"]],
  [["--input", "in.csv", "--output", "out.json"]],
  [["--input", '{"input": "in.csv", "output": "out.json"}']],
] as const)(
  "kitbag call takes %j: flags of the parameters, or the script's own command line",
  async ([words], context) => {
    needProgram(context, "python3");
    const project = projectWith({ "convert.py": convertScript });

    const run = await callScript(project, "convert", words);

    expect(run).toEqual({ code: 0, stdout: "in.csv out.json\n", stderr: opened });
  },
);

test.for([
  [["in.csv", "-x", "1"], '"in.csv": it is not a flag'],
  [["a.csv", "b.csv"], '"a.csv": it is not a flag'],
  [["--inptu", "in.csv"], "did you mean --input?"],
] as const)("kitbag call refuses %j, which the script does not take", async ([words, message], context) => {
  needProgram(context, "python3");
  const project = projectWith({ "convert.py": convertScript });

  const run = await callScript(project, "convert", words);

  expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
});

test("kitbag call checks the input before it starts anything", async (context) => {
  needProgram(context, "python3");
  const project = projectWith({ "repeat.py": argparseScript });

  const run = await callScript(project, "repeat", ["--text", "x", "--times", "often", "--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "input-invalid", details: { problems: [{}] } } });
});

test("kitbag call prints the JSON of a tool with an output schema as data", async () => {
  const project = projectWith({ "facts.sh": "echo '{\"files\": 3}'\n", "manifest.yml": factsManifest });

  const run = await callScript(project, "facts", ["--json"]);

  expect(JSON.parse(run.stdout)).toEqual({ status: "ok", output: { files: 3 } });
});

test("kitbag call of a script that fails has its exit code and what it said, once", async () => {
  const project = projectWith({ "fail.sh": "echo half\necho 'no such page' >&2\nexit 7\n" });

  const shown = await callScript(project, "fail");
  const asJson = await callScript(project, "fail", ["--json"]);

  expect(shown).toEqual({
    code: 1,
    stdout: "half\n",
    stderr: `${opened}no such page\nCannot finish "fail": it ended with exit code 7\n`,
  });
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    status: "failed",
    error: { code: "script-failed", details: { code: 7, stderr: "no such page", stdout: "half\n" } },
  });
});

test("kitbag call shows stderr of a script that succeeds, apart from its output", async () => {
  const project = projectWith({ "warn.sh": "echo careful >&2\necho done\n" });

  const run = await callScript(project, "warn");

  expect(run).toEqual({ code: 0, stdout: "done\n", stderr: `${opened}careful\n` });
});

test("kitbag call shows output while the script still runs", async () => {
  // The script goes on only when its first line was read. What is new in a folder of the project is there at once.
  const project = projectWith(
    { "wait.sh": "echo first\nuntil [ -e signals/go ]; do sleep 0.05; done\necho second\n" },
    'read = ["."]',
  );
  mkdirSync(join(project.folder, "signals"));

  const run = await callScript(project, "wait", ["--limit-ms", "60000"], {
    onOutput: (seen) => {
      if (seen.includes("first")) writeFileSync(join(project.folder, "signals/go"), "");
    },
  });

  expect(run).toEqual({ code: 0, stdout: "first\nsecond\n", stderr: "Opened the skill short for this call\n" });
});

test("kitbag call kills a script and what it started at Ctrl-C", async () => {
  const project = projectWith(
    { "spin.sh": "trap '' TERM INT\n(while :; do echo x >> beat; sleep 0.02; done) &\necho started\nwait\n" },
    'read = ["."]\nwrite = ["./"]',
  );
  const beat = join(project.folder, "beat");

  const run = await callScript(project, "spin", [], { signal: { name: "SIGINT", after: "started" } });
  const before = existsSync(beat) ? readFileSync(beat, "utf8") : "";
  await new Promise((resolve) => setTimeout(resolve, 300));

  expect(run.code).toBe(1);
  expect(run.stderr).toContain('Cannot finish "short/spin": the call was cancelled');
  expect(existsSync(beat) ? readFileSync(beat, "utf8") : "").toBe(before);
});

test("kitbag call --limit-ms ends a script, and keeps what it printed", async () => {
  const project = projectWith({ "hang.sh": "trap '' TERM\necho begun\nsleep 600\n" });

  const run = await callScript(project, "hang", ["--limit-ms", "3000"]);

  expect(run).toMatchObject({ code: 1, stdout: "begun\n" });
  expect(run.stderr).toContain("still running after 3000 ms");
});

test.for(["bubblewrap", "unshare"])(
  "kitbag call --sandbox %s runs a script that sees nothing of this machine",
  async (sandbox, context) => {
    needProgram(context, sandbox === "bubblewrap" ? "bwrap" : "unshare");
    const project = projectWith({ "look.sh": lookAround });

    const byFlag = await callScript(project, "look", ["--sandbox", sandbox], { env: { PRIVATE_WORD: "hidden" } });
    const byVariable = await callScript(project, "look", [], {
      env: { KITBAG_SANDBOX: sandbox, PRIVATE_WORD: "hidden" },
    });

    expect(byFlag).toMatchObject({ code: 0, stdout: "shadow: no\nhome: no\nword: none\nproject: no\n" });
    expect(byVariable).toEqual(byFlag);
  },
);

test("kitbag call --sandbox off runs without one, and says so", async () => {
  const project = projectWith({ "look.sh": `[ -e "${process.execPath}" ] && echo "sees the host"\n` });

  const run = await callScript(project, "look", ["--sandbox", "off"]);

  expect(run).toMatchObject({ code: 0, stdout: "sees the host\n" });
  expect(run.stderr).toContain("No sandbox: what runs can read and change all that you can\n");
});

test.for([
  [["--sandbox", "chroot"], {}],
  [[], { KITBAG_SANDBOX: "none" }],
] as const)("kitbag call with the sandbox %j %j is wrong usage, and names those there are", async ([words, env]) => {
  const run = await callScript(projectWith({ "look.sh": "echo" }), "look", words, { env });

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain("there are bubblewrap, unshare,");
});

test("kitbag call refuses to run where the sandbox that was asked for is missing", async () => {
  const project = projectWith({ "look.sh": "echo ran\n" });

  const run = await callScript(project, "look", ["--sandbox", "seatbelt", "--json"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "sandbox-missing" } });
});

test("kitbag call of a script that is not there names the nearest", async () => {
  const run = await callScript(projectWith({ "look.sh": "echo" }), "lok");

  expect(run).toEqual({
    code: 1,
    stdout: "",
    stderr: 'Cannot find the tool "short/lok": did you mean "short/look"?\n',
  });
});

test("kitbag call of a script without its interpreter says how to get it", async () => {
  const project = projectWith({
    "speak.sh": "",
    "manifest.yml": "tools:\n  - name: speak\n    script: speak.sh\n    interpreter: kitbag-no-such-program\n",
  });

  const run = await callScript(project, "speak", ["--json"]);

  expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: "interpreter-missing" } });
  expect(run.stderr).toContain("kitbag-no-such-program");
});

test("kitbag call gives a script the variables that it may see, and hides their values", async () => {
  const project = projectWith({ "key.sh": showKeys }, 'env = ["API_KEY", "OTHER_KEY"]');
  writeSecrets(project, "# keys\nAPI_KEY=from-the-file\nexport OTHER_KEY='quoted value'\n");

  const fromFile = await callScript(project, "key");
  const fromEnvironment = await callScript(project, "key", [], { env: { API_KEY: "from-outside", UNNAMED_KEY: "x" } });

  expect(fromFile.stdout).toBe("13 12 0\n[API_KEY]\n");
  expect(fromEnvironment.stdout).toBe("12 12 0\n[API_KEY]\n");
});

test("kitbag call refuses a file of secrets that others can read", async () => {
  const project = projectWith({ "key.sh": showKeys }, 'env = ["API_KEY"]');
  writeSecrets(project, "API_KEY=open\n", 0o644);

  const run = await callScript(project, "key");

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain("others can read it; run chmod 600 on it");
});

test("kitbag call lets a script read and write where it may, and nowhere else", async () => {
  const script =
    "cat in/a.txt > out/b.txt\ncat other.txt 2>/dev/null || echo 'other: hidden'\necho x 2>/dev/null > in/c.txt || echo 'in: read-only'\n";
  const project = projectWith({ "copy.sh": script }, 'read = ["./in"]\nwrite = ["./out"]');
  project.write("in/a.txt", "text");
  project.write("other.txt", "private");
  mkdirSync(join(project.folder, "out"));

  const run = await callScript(project, "copy");

  expect(run).toMatchObject({ code: 0, stdout: "other: hidden\nin: read-only\n" });
  expect(readFileSync(join(project.folder, "out/b.txt"), "utf8")).toBe("text");
  expect(existsSync(join(project.folder, "in/c.txt"))).toBe(false);
});

test("kitbag call lets a script reach no service of this machine, whatever it was granted elsewhere", async (context) => {
  needProgram(context, "python3");
  const { port, connections } = await listen();
  const project = projectWith({ "reach.py": reachScript(port) }, 'network = ["example.com:443"]');

  const run = await callScript(project, "reach");

  expect(run.stdout).toBe("directly: refused\nby proxy: 403\n");
  expect(run.stderr).toContain(`Refused a connection to 127.0.0.1:${port}`);
  expect(connections()).toBe(0);
});

const opened = "Opened the skill short for this call\n";

/** A skill named short with these scripts. */
function projectWith(scripts: Readonly<Record<string, string>>, permissions = ""): Project {
  const project = createProject(skillFiles("skills/short"));
  for (const [name, content] of Object.entries(scripts)) project.write(`skills/short/scripts/${name}`, content);
  if (permissions !== "") project.write("skills/short/kitbag.toml", `[permissions]\n${permissions}\n`);
  return project;
}

function callScript(
  project: Project,
  tool: string,
  words: readonly string[] = [],
  options: RunKitbagOptions = {},
): Promise<KitbagRun> {
  return runKitbag(["call", `short/${tool}`, "--skills", "skills", ...words], { project, ...options });
}

function writeSecrets({ home }: Project, content: string, mode = 0o600): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "secrets.env"), content);
  chmodSync(join(home, "secrets.env"), mode);
}

async function listen(): Promise<{ port: number; connections: () => number }> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, connections: () => count };
}

const convertScript = `import argparse
parser = argparse.ArgumentParser(description="Converts a table")
parser.add_argument("input")
parser.add_argument("-o", "--output", required=True)
args = parser.parse_args()
print(args.input, args.output)
`;

const argparseScript = `#!/usr/bin/env python3
"""Repeat a text."""
import argparse

parser = argparse.ArgumentParser(description="Repeat a text.")
parser.add_argument("--text", required=True)
parser.add_argument("--times", type=int, default=1)
parser.add_argument("--upper", action="store_true")
args = parser.parse_args()
for _ in range(args.times):
    print(args.text.upper() if args.upper else args.text)
`;

const factsManifest = `tools:
  - name: facts
    script: facts.sh
    description: Counts
    output: { type: object, required: [files], properties: { files: { type: integer } } }
`;

const lookAround = `
[ -r /etc/shadow ] && echo "shadow: yes" || echo "shadow: no"
[ -e ${homedir()} ] && echo "home: yes" || echo "home: no"
echo "word: \${PRIVATE_WORD:-none}"
[ -e "${import.meta.filename}" ] && echo "project: yes" || echo "project: no"
`;

const showKeys = 'echo "${#API_KEY} ${#OTHER_KEY} ${#UNNAMED_KEY}"\necho "$API_KEY"\n';

function reachScript(port: number): string {
  return `
import http.client, os, socket
try:
    socket.create_connection(("127.0.0.1", ${port}), 2)
    print("directly: reached")
except OSError:
    print("directly: refused")
proxy = http.client.HTTPConnection(os.environ["HTTP_PROXY"].removeprefix("http://"), timeout=5)
proxy.request("GET", "http://127.0.0.1:${port}/")
print("by proxy:", proxy.getresponse().status)
`;
}
