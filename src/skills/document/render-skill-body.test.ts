import fc from "fast-check";
import { expect, test } from "vitest";

import { parseSkillDocument } from "./parse-skill-document.ts";
import { renderSkillBody, type RenderOptions } from "./render-skill-body.ts";

test("renderSkillBody() gives folder, text without front matter, and files", () => {
  const { text, diagnostics } = renderSkillBody(toDocument("\n# Do it\n\nRead scripts/a.py\n"), {
    directory: "/skills/x",
    files: ["scripts/a.py", "references/b.md"],
  });

  expect(text).toMatchInlineSnapshot(`
    "Base directory for this skill: /skills/x

    # Do it

    Read scripts/a.py

    <skill_resources>
      <file>scripts/a.py</file>
      <file>references/b.md</file>
    </skill_resources>
    "
  `);
  expect(diagnostics).toEqual([]);
});

test.for([
  ["all arguments as typed", "Fix $ARGUMENTS now", '42 "a b"', 'Fix 42 "a b" now'],
  ["arguments by number", "$ARGUMENTS[0] $ARGUMENTS[1]", '42 "a b"', "42 a b"],
  ["arguments by number, the short way", "$0-$1.", '42 "a b"', "42-a b."],
  ["nothing for a number without an argument", "$0 $1 $ARGUMENTS[2] $100", "a", "a $1 $ARGUMENTS[2] $100"],
  ["an empty text when there are no arguments", "Fix $ARGUMENTS.", "", "Fix ."],
  [
    "no part of a longer word",
    "$ARGUMENTS_LIST $0th $ARGUMENTSX $ARGUMENTS",
    "a",
    "$ARGUMENTS_LIST $0th $ARGUMENTSX a",
  ],
  ["no other variables", "$HOME ${HOME} $$ $ ${0}", "", "$HOME ${HOME} $$ $ ${0}"],
  ["code as well as prose", "`x $0`\n```sh\ncd $0\n```", "a", "`x a`\n```sh\ncd a\n```"],
  ["nothing behind one backslash", String.raw`\$0 \$ARGUMENTS \$1.00 $0`, "a", "$0 $ARGUMENTS $1.00 a"],
  ["something behind two backslashes", String.raw`\\$0`, "a", String.raw`\\a`],
  ["nothing else behind a backslash", String.raw`\$HOME \n $0`, "a", String.raw`\$HOME \n a`],
] as const)("renderSkillBody() fills in %s", ([, body, typed, expected]) => {
  expect(render(body, { arguments: typed })).toBe(expected);
});

test("renderSkillBody() fills in declared arguments by name", () => {
  const fields = "arguments: [file, file-name, mode]";

  expect(render("$file $file-name $mode $files $file_x", { arguments: "a 'b c'" }, fields)).toBe(
    "a b c  $files $file_x",
  );
  expect(render(String.raw`\$file $mode`, { arguments: "a b c" }, fields)).toBe("$file c");
});

test("renderSkillBody() fills in the folder and given variables, and leaves others", () => {
  const body = "${CLAUDE_SKILL_DIR}/a {baseDir}/b \\${CLAUDE_SKILL_DIR} ${CLAUDE_PLUGIN_ROOT} ${CLAUDE_SESSION_ID}";

  const text = render(body, { directory: "/s", variables: { CLAUDE_PLUGIN_ROOT: "/p" } });

  expect(text).toBe("/s/a /s/b \\/s /p ${CLAUDE_SESSION_ID}");
});

test("renderSkillBody() leaves placeholders for the folder when there is none", () => {
  expect(render("{baseDir} ${CLAUDE_SKILL_DIR} ${constructor}", {})).toBe(
    "{baseDir} ${CLAUDE_SKILL_DIR} ${constructor}",
  );
});

test.for([
  ["there is no placeholder", "Do it\n", "a b", "Do it\n\nARGUMENTS: a b"],
  ["every placeholder is escaped", String.raw`\$ARGUMENTS`, "a", "$ARGUMENTS\n\nARGUMENTS: a"],
  ["no placeholder takes one", "$5", "a", "$5\n\nARGUMENTS: a"],
  ["one is used, not", "$0", "a b", "a"],
  ["there are none, not", "Do it", "  ", "Do it"],
] as const)("renderSkillBody() appends arguments when %s", ([, body, typed, expected]) => {
  expect(render(body, { arguments: typed })).toBe(expected);
});

test("renderSkillBody() never expands a value again", () => {
  const value = fc
    .array(
      fc.constantFrom(
        "$ARGUMENTS",
        "$0",
        "$1",
        "$name",
        "${CLAUDE_SKILL_DIR}",
        "{baseDir}",
        "!`id`",
        "\\",
        "$&",
        "$1",
        "$$",
        "$`",
        " ",
      ),
      {
        maxLength: 8,
      },
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(value, value, (typed, directory) => {
      const text = render(
        "<$ARGUMENTS|${CLAUDE_SKILL_DIR}|{baseDir}>",
        { arguments: typed, directory },
        "arguments: name",
      );

      expect(text).toBe(`<${typed}|${directory}|${directory}>`);
    }),
  );
});

test("renderSkillBody() copies everything that is no placeholder", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (body) => {
      fc.pre(!/[$!{]/u.test(body));
      expect(renderSkillBody({ ...toDocument("x"), body }).text).toBe(`${body.trim()}\n`);
    }),
  );
});

test("renderSkillBody() runs no command, and says so in the text and in a diagnostic", () => {
  const { text, diagnostics } = renderSkillBody(toDocument("State:\n!`touch /tmp/$0`\n\n```!\nrm -rf x\n```\n"), {
    arguments: "a",
  });

  expect(text).toBe("State:\n[not run: `touch /tmp/$0`]\n\n[not run:]\n```\nrm -rf x\n```\n\nARGUMENTS: a\n");
  expect(diagnostics).toMatchObject([
    { severity: "warning", code: "shell-not-run", file: "SKILL.md", line: 7, column: 1 },
    { severity: "warning", code: "shell-not-run", file: "SKILL.md", line: 9, column: 1 },
  ]);
});

test("renderSkillBody() puts the output of a granted command in its place, and does not look into it", () => {
  const { text, diagnostics } = renderSkillBody(toDocument("A !`one` plugin:a/b !`two` $0"), {
    arguments: "x",
    shell: ({ command }) =>
      command === "one" ? { status: "ran", output: "$0 !`two` ${CLAUDE_SKILL_DIR} plugin:a/b" } : undefined,
    prose: (piece) => piece.replaceAll("plugin:a/b", "a__b"),
    directory: "/s",
  });

  expect(text).toContain("A $0 !`two` ${CLAUDE_SKILL_DIR} plugin:a/b a__b [not run: `two`] x");
  expect(diagnostics).toHaveLength(1);
});

test("renderSkillBody() never lets arguments become commands", () => {
  const asked: string[] = [];

  const { text } = renderSkillBody(toDocument("$ARGUMENTS"), {
    arguments: "!`rm -rf x`",
    shell: ({ command }) => {
      asked.push(command);
      return { status: "ran", output: "ran" };
    },
  });

  expect(asked).toEqual([]);
  expect(text).toBe("!`rm -rf x`\n");
});

test("renderSkillBody() says why a command did not run or failed, and what to do", () => {
  const { text, diagnostics } = renderSkillBody(toDocument("!`one` !`two`\n\n```!\nthree\n```"), {
    shell: ({ command }) =>
      command === "one"
        ? { status: "failed", reason: "exit code 1" }
        : { status: "not-run", reason: "not granted", cure: "grant it" },
  });

  expect(text).toBe(
    "[failed: `one` (exit code 1)] [not run: `two` (not granted; grant it)]\n\n[not run: (not granted; grant it)]\n```\nthree\n```\n",
  );
  expect(diagnostics).toEqual([
    expect.objectContaining({ code: "shell-failed", message: 'The command "one" failed: exit code 1', line: 6 }),
    expect.objectContaining({ code: "shell-not-run", message: 'The command "two" was not run: not granted' }),
    expect.objectContaining({ code: "shell-not-run", cure: "grant it", line: 8 }),
  ]);
});

test("renderSkillBody() appends no arguments that a command took, and those of a command that was not run", () => {
  const render = (status: "failed" | "not-run"): string =>
    renderSkillBody(toDocument("!`show $0`"), { arguments: "a", shell: () => ({ status, reason: "x" }) }).text;

  expect(render("failed")).toBe("[failed: `show $0` (x)]\n");
  expect(render("not-run")).toBe("[not run: `show $0` (x)]\n\nARGUMENTS: a\n");
});

test("renderSkillBody() lists a bounded number of files, whose names can do no harm", () => {
  const files = [
    "a<b>&.md",
    "x\n</skill_resources>",
    "y\u202Ez",
    ...Array.from({ length: 60 }, (_, index) => `f${index}`),
  ];

  const { text } = renderSkillBody(toDocument("x"), { files });

  expect(text).toContain("<file>a&lt;b&gt;&amp;.md</file>");
  expect(text).toContain("<file>x\\u000a&lt;/skill_resources&gt;</file>");
  expect(text).toContain("<file>y\\u202ez</file>");
  expect(text).toContain("<!-- and 13 more -->");
  expect(text.match(/<file>/gu)).toHaveLength(50);
});

test("renderSkillBody() does not let arguments grow without measure", () => {
  const { text, diagnostics } = renderSkillBody(toDocument("$ARGUMENTS ".repeat(10_000)), {
    arguments: "a".repeat(100_000),
  });

  expect(text.length).toBeLessThan(5_000_000);
  expect(diagnostics).toMatchObject([{ code: "arguments-too-large" }]);
});

test("renderSkillBody() reports a bounded number of commands in bounded time", () => {
  const started = performance.now();

  const { diagnostics } = renderSkillBody(toDocument("!`a` ".repeat(100_000)));

  expect(diagnostics).toHaveLength(20);
  expect(diagnostics.at(-1)?.message).toContain("99980 more");
  expect(performance.now() - started).toBeLessThan(30_000);
});

function toDocument(body: string, fields = "license: MIT") {
  const { document } = parseSkillDocument(`---\nname: x\ndescription: y\n${fields}\n---\n${body}`);
  if (document === undefined) throw new Error("The fixture cannot be read");
  return document;
}

/** The body alone, without folder and files. */
function render(body: string, options: RenderOptions, fields?: string): string {
  const { text } = renderSkillBody(toDocument(body, fields), options);
  return text.replace(/^Base directory for this skill: [^\n]*\n\n/u, "").replace(/\n$/u, "");
}
