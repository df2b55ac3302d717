import { expect, test } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";
import { moduleFromText } from "../../../test/support/wasm-module.ts";

const script = { "skills/s/scripts/run.sh": '#!/bin/bash\necho "$1"\n' };
const frontMatter = (lines: string, body = "Text."): string =>
  `---\nname: s\ndescription: Does a thing. Use it when the thing is to be done.\n${lines}---\n\n${body}\n`;
const command = '(module (memory (export "memory") 1) (func (export "_start")))';
const wasm = (file: string): string => `[[tools]]\nname = "w"\nkind = "wasm"\nfile = "${file}"\n`;

const failing: readonly {
  readonly name: string;
  readonly files: Record<string, string | Uint8Array>;
  readonly code: string;
  readonly says: string;
}[] = [
  {
    name: "a WASM module that is none",
    files: { "skills/s/kitbag.toml": wasm("w.wasm"), "skills/s/w.wasm": "#!/bin/sh\n" },
    code: "wasm-invalid",
    says: "it is no WASM module",
  },
  {
    name: "a damaged WASM module",
    files: {
      "skills/s/kitbag.toml": wasm("w.wasm"),
      "skills/s/w.wasm": moduleFromText(command).subarray(0, -2),
    },
    code: "wasm-invalid",
    says: "damaged",
  },
  {
    name: "a WASM component",
    files: {
      "skills/s/kitbag.toml": wasm("w.wasm"),
      "skills/s/w.wasm": Uint8Array.of(0, 0x61, 0x73, 0x6d, 13, 0, 1, 0),
    },
    code: "wasm-invalid",
    says: "it is a WASM component",
  },
  {
    name: "a WASM library",
    files: {
      "skills/s/kitbag.toml": wasm("w.wasm"),
      "skills/s/w.wasm": moduleFromText('(module (memory (export "memory") 1) (func (export "run")))'),
    },
    code: "wasm-invalid",
    says: 'it exports no function "_start"',
  },
  {
    name: "a WASM module that is not there",
    files: { "skills/s/kitbag.toml": wasm("w.wasm") },
    code: "tool-file-missing",
    says: '"w.wasm" is not in the folder',
  },
  {
    name: "a script that the manifest lists and that is not there",
    files: { "skills/s/kitbag.toml": '[[tools]]\nname = "x"\nkind = "script"\nfile = "scripts/gone.py"\n' },
    code: "tool-file-missing",
    says: '"scripts/gone.py" is not in the folder',
  },
  {
    name: "a script that SKILL.md runs and that is not there",
    files: { "skills/s/SKILL.md": frontMatter("", "Run `python scripts/gone.py in.csv`.") },
    code: "script-missing",
    says: '"scripts/gone.py"',
  },
  {
    name: "uses of a tool that is not there",
    files: { ...script, "skills/s/kitbag.toml": '[skill]\nuses = ["s/rn"]\n' },
    code: "use-missing",
    says: "has no such tool",
  },
  {
    name: "uses of another version of a tool",
    files: {
      ...script,
      "skills/s/kitbag.toml": '[skill]\nuses = ["t/do@^2"]\n',
      ...skillFiles("skills/t"),
      "skills/t/scripts/do.sh": "echo 1\n",
      "skills/t/kitbag.toml": '[skill]\nversion = "1.0.0"\n',
    },
    code: "use-changed",
    says: "version 1.0.0",
  },
  {
    name: "a network rule that is refused",
    files: { ...script, "skills/s/kitbag.toml": '[permissions]\nnetwork = ["https://api.example.com/x"]\n' },
    code: "network-rule-invalid",
    says: "write the host alone",
  },
  {
    name: "a read rule that is refused",
    files: { ...script, "skills/s/kitbag.toml": '[permissions]\nread = ["/proc/self"]\n' },
    code: "permission-refused",
    says: "could leave its sandbox",
  },
  {
    name: "a read rule with a pattern",
    files: { ...script, "skills/s/kitbag.toml": '[permissions]\nread = ["./*.csv"]\n' },
    code: "permission-refused",
    says: "a path starts with ./",
  },
  {
    name: "allowed-tools with an address that is not there",
    files: { ...script, "skills/s/SKILL.md": frontMatter("allowed-tools: Bash(git:*) Read s/rnu\n") },
    code: "tool-unknown",
    says: 'Names the tool "s/rnu"',
  },
  {
    name: "tools with a name that is not there, in a list of the skill's own",
    files: { ...script, "skills/s/SKILL.md": frontMatter("tools: [run, report, Read, bash]\n") },
    code: "tool-unknown",
    says: 'Names the tool "report"',
  },
];

test.for(failing)("kitbag check fails for $name", async ({ files, code, says }) => {
  const project = createProject({ "skills/s/SKILL.md": frontMatter(""), ...files });

  const { exitCode, errors } = await check(project);

  expect(errors.map((one) => one.code)).toEqual([code]);
  expect(errors[0]?.message).toContain(says);
  expect(exitCode).toBe(1);
});

test("kitbag check reports no fault for what can be called, or belongs to another client", async () => {
  const project = createProject({
    ...script,
    "skills/s/SKILL.md": frontMatter(
      'allowed-tools: Read Bash(git:*) run mcp__github__get s/run plugin:eslint/all\ntools: [Read, "Bash", web_search, read_file]\n',
      "Run `bash scripts/run.sh x`, or `python src/train.py` in your project.",
    ),
    "skills/s/kitbag.toml": `[permissions]\nnetwork = ["*.example.com"]\nread = ["./data", "~/x"]\nwrite = ["./out.json"]\n${wasm("w.wasm")}`,
    "skills/s/w.wasm": moduleFromText(command),
  });

  const { exitCode, errors } = await check(project);

  expect(errors).toEqual([]);
  expect(exitCode).toBe(0);
});

interface Found {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

async function check(project: Project): Promise<{ exitCode: number | null; errors: readonly Found[] }> {
  const run = await runKitbag(["check", "skills", "--json"], { project });
  const { skills } = JSON.parse(run.stdout) as { skills: readonly { diagnostics: readonly Found[] }[] };
  const errors = skills.flatMap(({ diagnostics }) => diagnostics).filter(({ severity }) => severity === "error");
  return { exitCode: run.code, errors };
}
