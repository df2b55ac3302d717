import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace, type Workspace } from "kitbag";
import { openRuntimes, type Runtimes, type RuntimesOptions } from "kitbag/runtimes";
import { loadSkills } from "kitbag/skills";

/** The same small script in each language: it reads JSON and answers with it. */
const scripts = {
  "python.py": `import json, sys\n\nprint(json.dumps({"echo": json.load(sys.stdin)}))\n`,
  "bash.sh": `#!/usr/bin/env bash\nread -r line\nprintf '{"echo": %s}\\n' "$line"\n`,
  "node.mjs": `import { readFileSync } from "node:fs";\n\nconsole.log(JSON.stringify({ echo: JSON.parse(readFileSync(0, "utf8")) }));\n`,
  "count.py": `import json, sys\n\npath = json.load(sys.stdin).get("file")\nprint(len(open(path, "rb").read()) if path else 0)\n`,
  "typescript.ts": `import { readFileSync } from "node:fs";\n\nconst input: unknown = JSON.parse(readFileSync(0, "utf8"));\nconsole.log(JSON.stringify({ echo: input }));\n`,
};

/** A language of the script. */
export type Language = "python" | "bash" | "node" | "typescript";

const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const skill = join(folder, "echo");
mkdirSync(join(skill, "scripts"), { recursive: true });
writeFileSync(join(skill, "SKILL.md"), "---\nname: echo\ndescription: Answers with its input\n---\n");
const tools = Object.keys(scripts).map(
  (file) => `[[tools]]\nname = "${file.split(".")[0]}"\nkind = "script"\nfile = "scripts/${file}"\n`,
);
writeFileSync(join(skill, "kitbag.toml"), tools.join("\n"));
for (const [file, text] of Object.entries(scripts)) writeFileSync(join(skill, "scripts", file), text);

/** A workspace with the script open as a tool, and what it runs in. */
export interface Bag {
  readonly workspace: Workspace;
  readonly runtimes: Runtimes;
}

/** Opens the skill in a workspace whose scripts run in a sandbox. */
export async function openBag(options: RuntimesOptions): Promise<Bag> {
  const runtimes = openRuntimes({ home: join(folder, "home"), ...options });
  const { reports } = await loadSkills({ directories: [skill] });
  const skills = reports.flatMap((report) => report.skill ?? []);
  const workspace = createWorkspace({ skills, runtimes });
  await workspace.activateSkill("echo");
  return { workspace, runtimes };
}

/** Calls the tool once, and looks at the answer. */
export async function callEcho({ workspace }: Bag, language: Language): Promise<void> {
  const outcome = await workspace.call(`echo/${language}`, { a: 1 });
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  check(outcome.output as string);
}

const named = join(folder, "named.bin");
writeFileSync(named, Buffer.alloc(1024 * 1024, "x"));

/** Calls a script of Python as a person who names a file of 1 MB, or none. */
export async function callCount({ workspace }: Bag, hasFile: boolean): Promise<void> {
  const input = hasFile ? { file: named } : {};
  const outcome = await workspace.call("echo/count", input, { namedBy: "person" });
  const expected = hasFile ? "1048576" : "0";
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  const output = outcome.output as string;
  if (output !== expected) throw new Error(`Cannot use the answer: ${output}`);
}

const commands: Readonly<Record<Language, readonly [program: string, file: string]>> = {
  python: ["/usr/bin/python3", "python.py"],
  bash: ["bash", "bash.sh"],
  node: [process.execPath, "node.mjs"],
  typescript: [process.execPath, "typescript.ts"],
};

/** Starts the script as a plain process, without any sandbox. */
export function spawnEcho(language: Language): Promise<void> {
  const [program, file] = commands[language];
  return new Promise((resolve) => {
    const child = spawn(program, [join(skill, "scripts", file)]);
    let output = "";
    child.stdout.on("data", (piece) => (output += piece));
    child.stderr.resume();
    child.stdin.end('{"a":1}\n');
    child.on("close", () => {
      check(output);
      resolve();
    });
  });
}

function check(output: string): void {
  if (JSON.stringify(JSON.parse(output)) !== '{"echo":{"a":1}}') throw new Error(`Cannot use the answer: ${output}`);
}
