import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createWorkspace, type CallEvent, type Diagnostic, type Workspace, type WorkspaceOptions } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";
import { loadSkills } from "kitbag/skills";
import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { countProcesses } from "../../../test/support/run-script.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { SandboxName } from "../../sandbox/sandbox.ts";

const sandboxes = [
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
] as const;

test.for(sandboxes)(
  "invokeSkill() runs a granted program in %s, and puts in what it prints",
  async ([sandbox, needed], context) => {
    needProgram(context, needed);
    const { workspace } = await open({ body: "Says: !`echo 'a  b' \"c\" d\\ e`.", run: ["echo"], sandbox });

    expect(await invoke(workspace)).toBe("Says: a  b c d e.");
  },
);

test("invokeSkill() runs a granted script of the skill, from the bytes that were hashed", async () => {
  const files = { "scripts/state.sh": '#!/bin/sh\necho "one:$1 in $0"\n' };
  const { workspace, folder } = await open({
    body: "!`./scripts/state.sh x`, !`scripts/state.sh y`, !`${CLAUDE_SKILL_DIR}/scripts/state.sh z`",
    run: ["./scripts/state.sh"],
    files,
  });

  const before = await invoke(workspace);
  writeFileSync(join(folder, "skill/scripts/state.sh"), "#!/bin/sh\necho two\n");
  const after = await invoke(workspace);

  expect(before).toBe(
    "one:x in /skill/scripts/state.sh, one:y in /skill/scripts/state.sh, one:z in /skill/scripts/state.sh",
  );
  expect(after).toBe(before);
});

test("invokeSkill() gives the same from sandboxes that were started ahead", async () => {
  const { workspace } = await open({
    body: "!`printf '%s|' 'a  b' $0 '' '$HOME'` !`./x.sh $0` !`node -p '1 + 1'`",
    run: ["printf", "./x.sh", "node"],
    files: { "x.sh": '#!/bin/sh\necho "$#:$1"\n' },
    warm: true,
  });
  const hostile = "$(id) `id` 'x";

  const texts = [await invoke(workspace, hostile), await invoke(workspace, hostile), await invoke(workspace, hostile)];

  expect(new Set(texts)).toEqual(new Set(["a  b|$(id)||$HOME| 1:$(id) 2"]));
});

test("invokeSkill() runs no script that changed after it was read", async () => {
  const { workspace, folder } = await open({
    body: "!`./state.sh`",
    run: ["state.sh", "./state.sh"],
    files: { "state.sh": "#!/bin/sh\necho one\n" },
  });
  writeFileSync(join(folder, "skill/state.sh"), "#!/bin/sh\necho two\n");

  expect(await invoke(workspace)).toMatch(
    /^\[not run: `\.\/state\.sh` \(Cannot run .*the file has changed since it was checked/u,
  );
});

test("invokeSkill() gives a command what was granted to the skill, and nothing else", async () => {
  const folder = createFolder({ "notes.txt": "mine", "other.txt": "not yours" });
  const { workspace } = await open({
    body: `!\`cat ${folder}/notes.txt\` !\`cat ${folder}/other.txt\` !\`cat /etc/passwd\` !\`env\``,
    run: ["cat", "env"],
    manifest: `read = ["${folder}/notes.txt"]\n`,
  });

  const text = await invoke(workspace);

  expect(text).toMatch(/^mine \[failed: `cat .*other\.txt` \(.*exit code 1/u);
  expect(text).not.toContain("root:");
  expect(text).not.toContain("USER=");
});

test.for([
  ["a program that is not granted", "!`id -u`", ["echo"], 'permission run does not list "id"'],
  ["a program of every sandbox that is not granted", "!`cat /etc/hostname`", [], 'permission run does not list "cat"'],
  ["a granted name as a path", "!`./echo x`", ["echo"], 'permission run does not list "./echo"'],
  ["another program of the same name", "!`/tmp/echo x`", ["echo"], 'permission run does not list "/tmp/echo"'],
  ["a script that is not granted", "!`./scripts/x.sh`", ["x.sh"], 'run does not list "./scripts/x.sh"'],
  ["a file that is not there", "!`./scripts/y.sh`", ["*"], 'there is no "scripts/y.sh" in the skill'],
  ["a file outside of the folder", "!`../../x.sh`", ["*"], 'there is no "../../x.sh" in the skill'],
  ["a shell's pipe", "!`echo a | tee b`", ["echo", "tee"], '"|" is for a shell'],
  ["a second command", "!`echo a; id`", ["echo", "id"], '";" is for a shell'],
  ["a block of several lines", "```!\necho a\necho b\n```", ["echo"], "more than one line"],
  ["a variable", "!`echo $HOME`", ["echo"], '"$HOME" is for a shell to fill in'],
  ["an argument that was not given", "!`echo $0`", ["echo"], "$0 was not given"],
  ["a program that is given as an argument", "!`$ARGUMENTS x`", ["*"], "its program must be written out"],
] as const)("invokeSkill() does not run %s", async ([, body, run, reason]) => {
  const { workspace, events } = await open({ body, run, files: { "scripts/x.sh": "#!/bin/sh\necho ran\n" } });
  const diagnostics: Diagnostic[] = [];

  const text = await invoke(workspace, "", { onDiagnostic: (one) => void diagnostics.push(one) });

  expect(text).toMatch(/^\[not run:/u);
  expect(text).toContain(reason);
  expect(diagnostics).toEqual([
    expect.objectContaining({ code: "shell-not-run", severity: "warning", file: "SKILL.md", line: 6, column: 1 }),
  ]);
  expect(diagnostics[0]?.message).toContain(reason);
  expect(events).toEqual([]);
});

test.for([
  "x; id",
  "$(id)",
  "`id`",
  "!`id`",
  "a\nid",
  "' && id '",
  '" && id "',
  "a | id",
  "$ARGUMENTS $0 $IFS",
  "a' 'b",
  "${CLAUDE_SKILL_DIR} {baseDir}",
  "*",
])("invokeSkill() hands on the argument %j as one word that nobody reads again", async (typed) => {
  const { workspace, events } = await open({
    body: '!`printf [%s] $ARGUMENTS`\n!`printf "[%s]" "<$ARGUMENTS>" \'$ARGUMENTS\'`',
    run: ["printf"],
  });

  const text = await invoke(workspace, typed);

  expect(events.map((event) => event.type === "call-start" && event.input)).toContainEqual({
    argv: ["[%s]", `<${typed}>`, "$ARGUMENTS"],
  });
  expect(text).toBe(
    `[not run: \`printf [%s] $ARGUMENTS\` ("[" is for a shell, and commands run without a shell; ${script})]\n[<${typed}>][$ARGUMENTS]`,
  );
});

test("invokeSkill() lets no argument become an option, unless the command says that options are over", async () => {
  const { workspace, events } = await open({ body: "!`echo a $0` !`echo -- $0` !`echo x$0`", run: ["echo"] });

  const text = await invoke(workspace, "--help");

  expect(text).toMatch(/^\[not run: `echo a \$0` \(the argument "--help" would be an option/u);
  expect(text).toMatch(/\] -- --help x--help$/u);
  expect(events.filter(({ type }) => type === "call-start")).toHaveLength(2);
});

test("invokeSkill() puts in an output once: nothing in it is run, filled in or renamed", async () => {
  const output = "!`id` $ARGUMENTS $0 ${CLAUDE_SKILL_DIR} {baseDir} $& plugin:skill/hello";
  const { workspace, events } = await open({
    body: "plugin:skill/hello: !`./out.sh`; $0",
    run: ["./out.sh", "id"],
    files: {
      "out.sh": `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`,
      "scripts/hello.sh": "#!/bin/sh\n# Usage: hello.sh\necho hello\n",
    },
  });

  const text = await invoke(workspace, "typed");

  expect(text.split("\n\n<skill_resources>")[0]).toBe(`skill__hello: ${output}; typed`);
  expect(events.filter(({ type }) => type === "call-start")).toHaveLength(1);
});

test("invokeSkill() takes colours, control characters and hidden letters out of an output", async () => {
  const { workspace } = await open({
    body: String.raw`!${"`"}printf "\033[31mred\033[0m\033]0;title\007 a\010b\r\nc\342\200\213d\342\200\256e"${"`"}`,
    run: ["printf"],
  });

  expect(await invoke(workspace)).toBe("red ab\ncde");
});

test("invokeSkill() cuts an output that is too long, and stops a program that does not end to print", async () => {
  const { workspace } = await open({ body: "!`seq 1 100000`\n!`yes`", run: ["seq", "yes"] });

  const text = await invoke(workspace);

  expect(text.length).toBeLessThan(18_000);
  expect(text).toContain("\n[cut: 588894 characters in all]\n");
  expect(text).toMatch(
    /\[failed: `yes` \(Cannot take the output of .* it printed more than 8388608 bytes and was stopped/u,
  );
});

test("invokeSkill() ends a program that does not end, with all that it started", async () => {
  const { workspace } = await open({ body: "!`sleep 98761`!", run: ["sleep"] });
  const started = performance.now();

  const text = await invoke(workspace, "", { limitMs: 700 });

  expect(text).toMatch(/^\[failed: `sleep 98761` \(Cannot finish .* after 700 ms\)\]!$/u);
  expect(performance.now() - started).toBeLessThan(30_000);
  await expect.poll(() => countProcesses("98761")).toBe(0);
});

test("invokeSkill() stops when nobody waits for it any more, and still gives the text", async () => {
  const { workspace } = await open({ body: "!`sleep 98762` !`echo never`", run: ["sleep", "echo"] });
  const signal = AbortSignal.timeout(600);

  const text = await invoke(workspace, "", { signal });

  expect(text).toMatch(/^\[failed: `sleep 98762` .*cancelled.*\] \[failed: `echo never` .*cancelled.*\]$/u);
});

test("invokeSkill() says what a program said that failed, or that there is none", async () => {
  const { workspace } = await open({
    body: "!`ls /nowhere`\n!`kitbag-no-such-program`",
    run: ["ls", "kitbag-no-such-program"],
  });
  const codes: string[] = [];

  const text = await invoke(workspace, "", { onDiagnostic: ({ code }) => void codes.push(code) });

  expect(text).toMatch(/^\[failed: `ls \/nowhere` \(Cannot finish "!ls": it ended with exit code 2: .*No such file/u);
  expect(text).toMatch(
    /\n\[not run: `kitbag-no-such-program` \(.*"kitbag-no-such-program" is not installed on this machine; install it\)\]$/u,
  );
  expect(codes).toEqual(["shell-failed", "shell-not-run"]);
});

test("invokeSkill() says little of a program that says much and fails", async () => {
  const { workspace } = await open({
    body: "!`./fail.sh`",
    run: ["./fail.sh"],
    files: { "fail.sh": '#!/bin/sh\nfor i in $(seq 1 500); do echo "this is the line $i of many" >&2; done\nexit 3\n' },
  });

  const text = await invoke(workspace);

  expect(text.length).toBeLessThan(600);
  expect(text).toMatch(/exit code 3: .*…\)\]$/u);
});

test("invokeSkill() runs the first ten commands of a text", async () => {
  const { workspace, events } = await open({ body: "!`echo x` ".repeat(12), run: ["echo"] });

  const text = await invoke(workspace);

  expect(text.match(/\bx\b(?!`)/gu)).toHaveLength(10);
  expect(text).toContain("[not run: `echo x` (only the first 10 commands of a text are run");
  expect(events.filter(({ type }) => type === "call-start")).toHaveLength(10);
});

test("invokeSkill() runs nothing of a skill that is not trusted, and says what to do", async () => {
  const { workspace, events } = await open({ body: "!`echo x`", run: ["echo"], isTrusted: false });

  expect(await invoke(workspace)).toMatch(/^\[not run: `echo x` \(Cannot open the skill "skill": .*kitbag trust/u);
  expect(events).toEqual([]);
});

test("invokeSkill() runs nothing of a skill that is no longer trusted when somebody has approved", async () => {
  const { workspace } = await open({
    body: "!`echo x`",
    run: ["echo"],
    approve: ({ address }) => {
      const skill = workspace.getSkill("skill");
      if (skill !== undefined) workspace.replaceSkill({ ...skill, description: "Another one" });
      return address === "skill/!echo" ? { decision: "approve" } : { decision: "deny", reason: "no" };
    },
  });

  expect(await invoke(workspace)).toMatch(/^\[not run: `echo x` \(.*another version, or none/u);
});

test("invokeSkill() runs nothing that is not approved", async () => {
  const { workspace } = await open({
    body: "!`echo x`",
    run: ["echo"],
    approve: ({ input }) => ({ decision: "deny", reason: JSON.stringify(input) }),
  });

  expect(await invoke(workspace)).toMatch(/^\[not run: `echo x` \(.*denied \(\{"argv":\["x"\]\}\)/u);
});

test("invokeSkill() runs nothing without a sandbox", async () => {
  const { workspace } = await open({ body: "!`echo x`", run: ["echo"], sandbox: "off" });

  expect(await invoke(workspace)).toMatch(
    /^\[not run: `echo x` \(.*it runs only in a sandbox, and the sandbox is off/u,
  );
});

test("invokeSkill() runs nothing in a workspace that runs no scripts, and says what to do", async () => {
  const { workspace } = await open({ body: "!`echo x`", run: ["echo"], runtimes: [] });

  expect(await invoke(workspace)).toMatch(
    /^\[not run: `echo x` \(.*pass a runtime of the kind "script" to createWorkspace/u,
  );
});

test("invokeSkill() runs nothing that stands in a code block or a code span", async () => {
  const body = "Write `` !`echo x` `` or:\n\n```md\n!`echo x`\n```\n\nname!`echo x`";
  const { workspace, events } = await open({ body, run: ["echo"] });

  expect(await invoke(workspace)).toBe(body);
  expect(events).toEqual([]);
});

test("invokeSkill() puts in what a middleware made of an output", async () => {
  const { workspace } = await open({ body: "!`echo x`", run: ["echo"] });
  workspace.use(async () => ({ status: "ok", output: { lines: 1 } }));

  expect(await invoke(workspace)).toBe('{"lines":1}');
});

test("invokeSkill() takes secrets of the workspace out of an output", async () => {
  const { workspace } = await open({
    body: "!`echo hunter2-hunter2`",
    run: ["echo"],
    secrets: { PASSWORD: "hunter2-hunter2" },
  });

  expect(await invoke(workspace)).not.toContain("hunter2-hunter2\n");
  expect(await workspace.invokeSkill("skill")).toContain("[PASSWORD]");
});

test("activeInstructions() and describing a skill run nothing", async () => {
  const { workspace, events } = await open({ body: "!`echo x`", run: ["echo"] });
  await workspace.activateSkill("skill");

  expect(workspace.activeInstructions()).toContain("[not run: `echo x`]");
  expect(events).toEqual([]);
});

test("no command can be called as a tool", async () => {
  const { workspace } = await open({ body: "!`echo x`", run: ["echo"] });
  await workspace.activateSkill("skill");
  const [command] = workspace.getSkill("skill")?.commands?.("") ?? [];
  const tool = command?.ok === true ? command.tool : undefined;

  const outcomes = [
    await workspace.call("skill/!echo", { argv: [] }),
    await workspace.call(tool as unknown as string, { argv: [] }),
  ];

  expect(outcomes.map((outcome) => outcome.status === "failed" && outcome.error.code)).toEqual([
    "address-invalid",
    "tool-foreign",
  ]);
});

const script = "put it into a script of the skill, and let the command name that";

interface Case extends Pick<WorkspaceOptions, "approve" | "runtimes" | "secrets"> {
  readonly body: string;
  readonly run: readonly string[];
  /** More permissions. */
  readonly manifest?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly sandbox?: SandboxName;
  readonly isTrusted?: boolean;
  readonly warm?: boolean;
}

interface Opened {
  readonly workspace: Workspace;
  readonly folder: string;
  readonly events: readonly CallEvent[];
}

/** A workspace with one skill, `skill`, and what happened in it. */
async function open({
  body,
  run,
  manifest = "",
  files = {},
  sandbox,
  isTrusted = true,
  warm = false,
  ...options
}: Case): Promise<Opened> {
  const folder = realpathSync(
    createFolder({
      "skill/SKILL.md": `---\nname: skill\ndescription: Does things\n---\n\n${body}\n`,
      "skill/kitbag.toml": `[permissions]\nrun = ${JSON.stringify(run)}\n${manifest}`,
      ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`skill/${path}`, text])),
    }),
  );
  const { reports } = await loadSkills({
    directories: [folder],
    trust: () => (isTrusted ? { status: "trusted" } : { status: "untrusted", changed: [] }),
  });
  const runtimes = openRuntimes({
    directory: folder,
    home: createFolder(),
    warm,
    ...(sandbox !== undefined && { sandbox }),
  });
  onTestFinished(() => runtimes.close());
  const workspace = createWorkspace({ runtimes, ...options, skills: reports.flatMap(({ skill }) => skill ?? []) });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => void events.push(event));
  return { workspace, folder, events };
}

/** The text of the skill, without its folder and its files. */
async function invoke(
  workspace: Workspace,
  ...rest: [words?: string, options?: Parameters<Workspace["invokeSkill"]>[2]]
) {
  const text = await workspace.invokeSkill("skill", ...rest);
  return text
    .replace(/^Base directory for this skill: [^\n]*\n\n/u, "")
    .replace(/\n\n<skill_resources>[\s\S]*$/u, "")
    .trimEnd();
}
