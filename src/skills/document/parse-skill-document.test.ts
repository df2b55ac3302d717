import { expect, test } from "vitest";
import fc from "fast-check";

import { cpuMsSince } from "../../../test/support/cpu-time.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { parseSkillDocument, type ParseOptions } from "./parse-skill-document.ts";
import { documentRules } from "./rules.ts";
import type { SkillDocument } from "./skill-document.ts";

test("parseSkillDocument() reads every field of the specification", () => {
  const { document, diagnostics } = read(
    [
      "---",
      "name: pdf-tools",
      "description: Fills PDF forms. Use when a PDF is mentioned.",
      "license: Apache-2.0",
      "compatibility: Needs git and jq",
      "allowed-tools: Bash(git:*) Bash(jq:*) Read",
      "metadata:",
      "  author: somebody",
      '  version: "1.0"',
      "---",
      "",
      "# Do it",
      "",
    ].join("\n"),
    { directoryName: "pdf-tools" },
  );

  expect(diagnostics).toEqual([]);
  expect(document).toEqual({
    file: "SKILL.md",
    name: "pdf-tools",
    declaredName: "pdf-tools",
    description: "Fills PDF forms. Use when a PDF is mentioned.",
    descriptionFrom: "front-matter",
    license: "Apache-2.0",
    compatibility: "Needs git and jq",
    allowedTools: [
      { raw: "Bash(git:*)", name: "Bash", rule: "git:*" },
      { raw: "Bash(jq:*)", name: "Bash", rule: "jq:*" },
      { raw: "Read", name: "Read" },
    ],
    metadata: { author: "somebody", version: "1.0" },
    kitbag: {},
    tools: [],
    arguments: [],
    version: "1.0",
    modelInvocable: true,
    userInvocable: true,
    extra: {},
    body: "\n# Do it\n",
    bodyLine: 11,
  });
});

test("parseSkillDocument() keeps what other clients understand", () => {
  const { document, diagnostics } = read(
    withFields(
      "version: 1.10",
      "argument-hint: [issue] [branch]",
      "arguments: [issue, branch]",
      "disable-model-invocation: yes",
      'user-invocable: "off"',
      "when_to_use: On Mondays",
      "context: fork",
      "hooks:",
      "  PreToolUse:",
      "    - matcher: Bash",
      "tags: [a, b]",
    ),
  );

  expect(document).toMatchObject({
    version: "1.10",
    argumentHint: "[issue] [branch]",
    arguments: ["issue", "branch"],
    modelInvocable: false,
    userInvocable: false,
    whenToUse: "On Mondays",
    extra: { version: 1.1, context: "fork", hooks: { PreToolUse: [{ matcher: "Bash" }] }, tags: ["a", "b"] },
  });
  expect(codes(diagnostics)).toEqual(["yaml-unquoted"]);
});

test("parseSkillDocument() reads an argument hint in brackets as it is written", () => {
  const { document, diagnostics } = read(withFields("argument-hint: [issue-number]"));

  expect(document?.argumentHint).toBe("[issue-number]");
  expect(diagnostics).toEqual([]);
});

test("parseSkillDocument() reads the tools that metadata declares, with their places", () => {
  const { document } = read(
    withFields("metadata:", "  kitbag-tools: extract, other/merge@1.2.0", "  kitbag-exclusive: x"),
  );

  expect(document?.kitbag).toEqual({ tools: "extract, other/merge@1.2.0", exclusive: "x" });
  expect(document?.tools).toEqual([
    { reference: "extract", from: "metadata", line: 5, column: 17 },
    { reference: "other/merge@1.2.0", from: "metadata", line: 5, column: 17 },
  ]);
});

test("parseSkillDocument() reads a top-level list of tools with definitions", () => {
  const { document, diagnostics } = read(
    withFields(
      "tools:",
      "  - plugin:design/layout",
      "  - name: render",
      "    script: scripts/render.py",
      "  - [no, name]",
    ),
  );

  expect(document?.tools).toEqual([
    { reference: "plugin:design/layout", from: "tools", line: 5, column: 5 },
    {
      reference: "render",
      from: "tools",
      definition: { name: "render", script: "scripts/render.py" },
      line: 6,
      column: 5,
    },
  ]);
  expect(diagnostics).toMatchObject([{ code: "tools-invalid", line: 8 }]);
});

test("parseSkillDocument() reads a top-level map of tools", () => {
  const { document } = read(withFields("tools:", "  render:", "    script: a.py", "  merge:"));

  expect(document?.tools.map(({ reference, definition }) => [reference, definition])).toEqual([
    ["render", { script: "a.py" }],
    ["merge", undefined],
  ]);
});

test.for([
  ["a text", "arguments: issue branch, mode"],
  ["a list", "arguments:\n  - issue\n  - branch\n  - mode"],
  ["a list of maps", "arguments:\n  - name: issue\n    required: true\n  - name: branch\n  - mode"],
  ["a map", "arguments:\n  issue: The number\n  branch:\n  mode: fast"],
] as const)("parseSkillDocument() reads arguments from %s", ([, fields]) => {
  expect(read(withFields(fields)).document?.arguments).toEqual(["issue", "branch", "mode"]);
});

test("parseSkillDocument() takes a description from behind comments, pictures and code", () => {
  const body = "<!-- generated -->\n![logo](x.png)\n\n~~~\ncode\n~~~\n<!-- never closed\nWhat it **does**.\n\nMore.";

  expect(read(`---\nname: x\n---\n${body}`).document?.description).toBe("What it **does**.");
});

test("parseSkillDocument() cuts a description that it takes from a long text", () => {
  expect(read(`---\nname: x\n---\n${"word ".repeat(1000)}`).document?.description).toHaveLength(1024);
});

test("parseSkillDocument() with spec warns of dashes that cut the block for the reference validator", () => {
  const { diagnostics } = read(withFields("license: a --- b"), { directoryName: "x", spec: true });

  expect(diagnostics).toMatchObject([{ severity: "warning", code: "front-matter-dashes" }]);
});

/** One oddity a row: a name, the file, what is reported (code, line, column), what is nevertheless understood. */
interface Oddity {
  readonly name: string;
  readonly text: string | Uint8Array;
  readonly found: readonly (readonly [code: string, line: number, column: number])[];
  readonly document: Partial<SkillDocument>;
}

const plain = { name: "x", description: "Does it", body: "Body\n" };

const oddities: readonly Oddity[] = [
  {
    name: "a byte order mark",
    text: Buffer.from("\uFEFF---\nname: x\ndescription: Does it\n---\nBody\n"),
    found: [["byte-order-mark", 1, 1]],
    document: { ...plain, bodyLine: 5 },
  },
  {
    name: "Windows line ends",
    text: "---\r\nname: x\r\ndescription: Does it\r\n---\r\nBody\r\n",
    found: [["line-ends-crlf", 1, 1]],
    document: { ...plain, bodyLine: 5 },
  },
  {
    name: "mixed line ends",
    text: "---\nname: x\r\ndescription: Does it\n---\nBody\n",
    found: [["line-ends-mixed", 2, 1]],
    document: plain,
  },
  {
    name: "old Macintosh line ends",
    text: "---\rname: x\rdescription: Does it\r---\rBody\r",
    found: [["line-ends-crlf", 1, 1]],
    document: plain,
  },
  {
    name: "UTF-16",
    text: Buffer.from("\uFEFF---\nname: x\ndescription: Does it\n---\nBody\n", "utf16le"),
    found: [["encoding-invalid", 1, 1]],
    document: plain,
  },
  {
    name: "UTF-16 in the other order",
    text: Buffer.from("\uFEFF---\nname: x\ndescription: Does it\n---\nBody\n", "utf16le").swap16(),
    found: [["encoding-invalid", 1, 1]],
    document: plain,
  },
  {
    name: "a byte that is not UTF-8",
    text: Buffer.concat([
      Buffer.from("---\nname: x\ndescription: Caf"),
      Buffer.from([0xe9]),
      Buffer.from(" bar\n---\nBody\n"),
    ]),
    found: [["encoding-invalid", 3, 17]],
    document: { ...plain, description: "Caf\uFFFD bar" },
  },
  {
    name: "a UTF-8 sequence that ends too early, behind Windows line ends and a wide character",
    text: Buffer.concat([
      Buffer.from("---\r\nname: x\r\ndescription: é"),
      Buffer.from([0xe2, 0x82]),
      Buffer.from("\r\n---\r\nBody\r\n"),
    ]),
    found: [
      ["encoding-invalid", 3, 15],
      ["line-ends-crlf", 1, 1],
    ],
    document: { ...plain, description: "é\uFFFD" },
  },
  {
    name: "half a surrogate pair",
    text: "---\nname: x\ndescription: a\uD800b\n---\nBody\n",
    found: [["encoding-invalid", 3, 15]],
    document: { ...plain, description: "a\uFFFDb" },
  },
  {
    name: "a blank line before the front matter",
    text: "\n  \n---\nname: x\ndescription: Does it\n---\nBody\n",
    found: [["front-matter-late", 1, 1]],
    document: { ...plain, bodyLine: 7 },
  },
  {
    name: "text before the front matter",
    text: "# Title\n\n---\nname: x\ndescription: Does it\n---\nBody\n",
    found: [["front-matter-late", 1, 1]],
    document: { ...plain, bodyLine: 7 },
  },
  {
    name: "a comment before the front matter",
    text: "<!-- licence -->\n---\n# keys\nname: x\ndescription: Does it\n---\nBody\n",
    found: [["front-matter-late", 1, 1]],
    document: plain,
  },
  {
    name: "an unclosed front matter",
    text: "---\nname: x\ndescription: Does it\nmetadata:\n  a: b\n\n# Title\n\nname: no key\n",
    found: [["front-matter-unclosed", 6, 1]],
    document: {
      name: "x",
      description: "Does it",
      metadata: { a: "b" },
      body: "\n# Title\n\nname: no key\n",
      bodyLine: 6,
    },
  },
  {
    name: "an unclosed front matter with a rule further down",
    text: "---\nname: x\ndescription: Does it\n\n# Title\n\nSome text: here\nand there\n\n---\n\nMore\n",
    found: [["front-matter-unclosed", 4, 1]],
    document: { name: "x", description: "Does it", bodyLine: 4 },
  },
  {
    name: "front matter that is closed with dots",
    text: "---\nname: x\ndescription: Does it\n...\nBody\n",
    found: [],
    document: { ...plain, bodyLine: 5 },
  },
  {
    name: "front matter that is closed with dots before a rule",
    text: "---\nname: x\ndescription: Does it\n...\nBody\n---\n",
    found: [],
    document: { ...plain, body: "Body\n---\n" },
  },
  {
    name: "closing dashes with spaces",
    text: "---   \nname: x\ndescription: Does it\n---  \nBody\n",
    found: [],
    document: plain,
  },
  {
    name: "closing dashes at the very end",
    text: "---\nname: x\ndescription: Does it\n---",
    found: [["body-empty", 4, 1]],
    document: { name: "x", body: "" },
  },
  {
    name: "the word YAML behind the dashes",
    text: "--- yaml\nname: x\ndescription: Does it\n---\nBody\n",
    found: [["front-matter-label", 1, 4]],
    document: plain,
  },
  {
    name: "no front matter",
    text: "# Title\n\ndescription: Does a thing\nin two lines.\n\nMore\n",
    found: [
      ["front-matter-missing", 1, 1],
      ["description-missing", 1, 1],
      ["name-missing", 1, 1],
    ],
    document: { name: "x", description: "Does a thing in two lines.", descriptionFrom: "body", bodyLine: 1 },
  },
  {
    name: "a rule of Markdown at the top",
    text: "---\n\nJust prose\n\n---\n\nMore\n",
    found: [
      ["front-matter-missing", 1, 1],
      ["description-missing", 1, 1],
      ["name-missing", 1, 1],
    ],
    document: { description: "Just prose", bodyLine: 1 },
  },
  {
    name: "an empty front matter",
    text: "---\n---\n# Title only\n",
    found: [
      ["description-missing", 1, 1],
      ["name-missing", 1, 1],
    ],
    document: { name: "x", description: "Title only", descriptionFrom: "body", bodyLine: 3 },
  },
  {
    name: "an empty description",
    text: "---\nname: x\ndescription:\n---\n```\ncode\n```\n\n| a |\n\nFirst words.\n",
    found: [["description-missing", 3, 13]],
    document: { description: "First words." },
  },
  {
    name: "an unquoted colon",
    text: "---\nname: x\ndescription: Use when: it rains\nlicense: MIT\n---\nBody\n",
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: "Use when: it rains", license: "MIT" },
  },
  {
    name: "an unquoted colon in a text of two lines",
    text: "---\nname: x\ndescription: Use when: it rains\n  and: snows\nlicense: MIT\n---\nBody\n",
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: "Use when: it rains and: snows", license: "MIT", bodyLine: 7 },
  },
  {
    name: "a text behind the sign that starts a block",
    text: "---\nname: x\ndescription: | Does it\n  well\n---\nBody\n",
    found: [["yaml-block-inline", 3, 14]],
    document: { ...plain, description: "Does it\nwell" },
  },
  {
    name: "a text behind the sign that starts a folded block",
    text: "---\nname: x\ndescription: >- Does: it\n  well\n---\nBody\n",
    found: [["yaml-block-inline", 3, 14]],
    document: { ...plain, description: "Does: it well" },
  },
  {
    name: "a value that starts with @",
    text: "---\nname: x\ndescription: @mention everyone\n---\nBody\n",
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: "@mention everyone" },
  },
  {
    name: "a value that starts with a comma",
    text: "---\nname: x\ndescription: , and more\n---\nBody\n",
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: ", and more" },
  },
  {
    name: "quotes inside quotes",
    text: '---\nname: x\ndescription: "Says "hello" to you"\n---\nBody\n',
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: 'Says "hello" to you' },
  },
  {
    name: "an escape that YAML does not know",
    text: '---\nname: x\ndescription: "a \\[b\\] c"\n---\nBody\n',
    found: [["yaml-unquoted", 3, 14]],
    document: { ...plain, description: "a \\[b\\] c" },
  },
  {
    name: "a list on the line of its key",
    text: "---\nname: x\ndescription: Does it\nallowed-tools: - Read\n---\nBody\n",
    found: [["yaml-unquoted", 4, 16]],
    document: { ...plain, allowedTools: [{ raw: "Read", name: "Read" }] },
  },
  {
    name: "cut off JSON in metadata",
    text: '---\nname: x\ndescription: Does it\nmetadata: {"openclaw":{"requires":\n---\nBody\n',
    found: [
      ["yaml-unquoted", 4, 11],
      ["metadata-not-map", 4, 11],
    ],
    document: { ...plain, metadata: {} },
  },
  {
    name: "a broken entry below metadata",
    text: "---\nname: x\ndescription: Does it\nmetadata:\n  note: a: b\n  author: me\n---\nBody\n",
    found: [["yaml-unquoted", 5, 9]],
    document: { ...plain, metadata: { note: "a: b", author: "me" } },
  },
  {
    name: "a broken entry of a list",
    text: "---\nname: x\ndescription: Does it\ntriggers:\n  - when: x: y\n  - fine\n---\nBody\n",
    found: [["yaml-unquoted", 5, 5]],
    document: { ...plain, extra: { triggers: ["when: x: y", "fine"] } },
  },
  {
    name: "tabs",
    text: "---\nname: x\ndescription: Does it\nmetadata:\n\tauthor: me\n\tteam: us\n---\nBody\n",
    found: [["yaml-tab", 5, 1]],
    document: { ...plain, metadata: { author: "me", team: "us" } },
  },
  {
    name: "a missing space behind a colon",
    text: "---\nname:x\ndescription:Does it\n---\nBody\n",
    found: [
      ["yaml-space-missing", 2, 6],
      ["yaml-space-missing", 3, 13],
    ],
    document: plain,
  },
  {
    name: "a full-width colon",
    text: "---\nname: x\ndescription：Does it\n---\nBody\n",
    found: [["yaml-space-missing", 3, 13]],
    document: plain,
  },
  {
    name: "a text that goes on without indentation",
    text: "---\nname: x\ndescription: Does it\nand more of it\nlicense: MIT\n---\nBody\n",
    found: [["yaml-stray-line", 4, 1]],
    document: { ...plain, description: "Does it and more of it", license: "MIT" },
  },
  {
    name: "a description that YAML takes for a map",
    text: "---\nname: x\ndescription:\n  Use when: it rains\n---\nBody\n",
    found: [["field-not-text", 4, 3]],
    document: { ...plain, description: "Use when: it rains" },
  },
  {
    name: "a compatibility that is a list",
    text: "---\nname: x\ndescription: Does it\ncompatibility:\n  - claude\n  - codex\n---\nBody\n",
    found: [["field-not-text", 5, 3]],
    document: { ...plain, compatibility: "claude, codex" },
  },
  {
    name: "a license that is a map",
    text: "---\nname: x\ndescription: Does it\nlicense:\n  id: MIT\n---\nBody\n",
    found: [["field-not-text", 5, 3]],
    document: { ...plain, license: '{"id":"MIT"}' },
  },
  {
    name: "metadata that is a list",
    text: "---\nname: x\ndescription: Does it\nmetadata:\n  - a\n---\nBody\n",
    found: [["metadata-not-map", 5, 3]],
    document: { ...plain, metadata: {} },
  },
  {
    name: "metadata with numbers, nothing, lists and maps",
    text: '---\nname: x\ndescription: Does it\nmetadata: {"a": 1.10, "b": true, "c": null, "d": {"e": ["f"]}}\n---\nBody\n',
    found: [
      ["metadata-unquoted", 4, 17],
      ["metadata-unquoted", 4, 28],
      ["metadata-not-text", 4, 39],
      ["metadata-not-text", 4, 50],
    ],
    document: { ...plain, metadata: { a: "1.10", b: "true", c: "null", d: '{"e":["f"]}' } },
  },
  {
    name: "allowed-tools with commas",
    text: "---\nname: x\ndescription: Does it\nallowed-tools: Read, Bash(git add:*, git commit), mcp__a__b\n---\nBody\n",
    found: [["allowed-tools-commas", 4, 16]],
    document: {
      ...plain,
      allowedTools: [
        { raw: "Read", name: "Read" },
        { raw: "Bash(git add:*, git commit)", name: "Bash", rule: "git add:*, git commit" },
        { raw: "mcp__a__b", name: "mcp__a__b" },
      ],
    },
  },
  {
    name: "allowed-tools as a list",
    text: "---\nname: x\ndescription: Does it\nallowed-tools:\n  - Read\n  - Bash(npm *)\n---\nBody\n",
    found: [["allowed-tools-list", 5, 3]],
    document: {
      ...plain,
      allowedTools: [
        { raw: "Read", name: "Read" },
        { raw: "Bash(npm *)", name: "Bash", rule: "npm *" },
      ],
    },
  },
  {
    name: "allowed-tools that cannot be understood",
    text: "---\nname: x\ndescription: Does it\nallowed-tools: Read Bash(git\n---\nBody\n",
    found: [["allowed-tools-invalid", 4, 16]],
    document: { ...plain, allowedTools: [{ raw: "Read", name: "Read" }] },
  },
  {
    name: "allowed-tools that is a map",
    text: "---\nname: x\ndescription: Does it\nallowed-tools:\n  Read: true\n---\nBody\n",
    found: [["allowed-tools-invalid", 5, 3]],
    document: { ...plain, allowedTools: [] },
  },
  {
    name: "a name with upper-case letters and spaces",
    text: "---\nname: Azure CLI\ndescription: Does it\n---\nBody\n",
    found: [
      ["name-invalid", 2, 7],
      ["name-mismatch", 2, 7],
    ],
    document: { name: "azure-cli", declaredName: "Azure CLI" },
  },
  {
    name: "a name that could be one, but not to the specification",
    text: "---\nname: My_Skill\ndescription: Does it\n---\nBody\n",
    found: [
      ["name-invalid", 2, 7],
      ["name-mismatch", 2, 7],
    ],
    document: { name: "My_Skill" },
  },
  {
    name: "a name of which nothing is left",
    text: "---\nname: 技能\ndescription: Does it\n---\nBody\n",
    found: [["name-mismatch", 2, 7]],
    document: { name: "x", declaredName: "技能" },
  },
  {
    name: "a name that is not that of the directory",
    text: "---\nname: bio-x\ndescription: Does it\n---\nBody\n",
    found: [["name-mismatch", 2, 7]],
    document: { name: "bio-x" },
  },
  {
    name: "a name that is too long",
    text: `---\nname: ${"a".repeat(65)}\ndescription: Does it\n---\nBody\n`,
    found: [
      ["name-too-long", 2, 7],
      ["name-mismatch", 2, 7],
    ],
    document: { name: "a".repeat(64) },
  },
  {
    name: "a name that is a number",
    text: "---\nname: 007\ndescription: Does it\n---\nBody\n",
    found: [["name-mismatch", 2, 7]],
    document: { name: "007" },
  },
  {
    name: "a description that is too long",
    text: `---\nname: x\ndescription: ${"a".repeat(1025)}\n---\nBody\n`,
    found: [["description-too-long", 3, 14]],
    document: { description: "a".repeat(1025) },
  },
  {
    name: "a description with a tag",
    text: "---\nname: x\ndescription: Writes <b>bold</b> text\n---\nBody\n",
    found: [["description-markup", 3, 14]],
    document: { description: "Writes <b>bold</b> text" },
  },
  {
    name: "a compatibility that is too long",
    text: `---\nname: x\ndescription: Does it\ncompatibility: ${"a".repeat(501)}\n---\nBody\n`,
    found: [["compatibility-length", 4, 16]],
    document: { compatibility: "a".repeat(501) },
  },
  {
    name: "an empty body",
    text: "---\nname: x\ndescription: Does it\n---\n\n \n",
    found: [["body-empty", 5, 1]],
    document: { body: "\n \n" },
  },
  {
    name: "a long body",
    text: `---\nname: x\ndescription: Does it\n---\n${"a\n".repeat(501)}`,
    found: [["body-long", 5, 1]],
    document: { name: "x" },
  },
  {
    name: "a key that occurs twice",
    text: "---\nname: y\nname: x\ndescription: Does it\n---\nBody\n",
    found: [["key-duplicate", 3, 1]],
    document: plain,
  },
  {
    name: "keys in another spelling",
    text: "---\nName: x\nDescripton: Does it\nallowedTools: Read\n---\nBody\n",
    found: [
      ["key-misspelled", 2, 1],
      ["key-misspelled", 3, 1],
      ["key-misspelled", 4, 1],
    ],
    document: { ...plain, allowedTools: [{ raw: "Read", name: "Read" }], extra: {} },
  },
  {
    name: "a key that is not text",
    text: "---\nname: x\ndescription: Does it\n? [a, b]\n: c\n---\nBody\n",
    found: [["key-invalid", 4, 3]],
    document: { ...plain, extra: {} },
  },
  {
    name: "the key __proto__",
    text: "---\nname: x\ndescription: Does it\n__proto__: { polluted: true }\n---\nBody\n",
    found: [["key-invalid", 4, 1]],
    document: { ...plain, extra: {} },
  },
  {
    name: "anchors and aliases",
    text: "---\nname: x\ndescription: &d Does it\nlicense: *d\n---\nBody\n",
    found: [["yaml-anchor", 3, 17]],
    document: { ...plain, license: "Does it" },
  },
  {
    name: "tags",
    text: '---\nname: x\ndescription: !!js/function "Does it"\n---\nBody\n',
    found: [["yaml-tag", 3, 28]],
    document: plain,
  },
  {
    name: "hidden characters",
    text: "---\nname: x\ndescription: Does it\n---\nA\u200Bb \u202Ecd\u{E0068}\u{E0069}\n",
    found: [
      ["character-hidden", 5, 2],
      ["character-hidden", 5, 5],
      ["character-hidden", 5, 8],
    ],
    document: { body: "A\u200Bb \u202Ecd\u{E0068}\u{E0069}\n" },
  },
  {
    name: "control characters",
    text: Buffer.from("---\nname: x\ndescription: Does it\n---\nA \u001B[31mred\n"),
    found: [["character-control", 5, 3]],
    document: { body: "A \u001B[31mred\n" },
  },
  {
    name: "an unresolved merge in the body",
    text: "---\nname: x\ndescription: Does it\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n",
    found: [["conflict-marker", 5, 1]],
    document: { name: "x" },
  },
  {
    name: "an example of an unresolved merge in the body",
    text: "---\nname: x\ndescription: Does it\n---\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n```\n",
    found: [],
    document: { name: "x" },
  },
  {
    name: "flags that are neither yes nor no",
    text: "---\nname: x\ndescription: Does it\ndisable-model-invocation: perhaps\nuser-invocable: [1]\n---\nBody\n",
    found: [
      ["flag-invalid", 4, 27],
      ["flag-invalid", 5, 17],
    ],
    document: { modelInvocable: false, userInvocable: true },
  },
  {
    name: "arguments that cannot be placeholders",
    text: '---\nname: x\ndescription: Does it\narguments: [ok, "not ok", ARGUMENTS]\n---\nBody\n',
    found: [["arguments-invalid", 4, 12]],
    document: { arguments: ["ok", "not ok", "ARGUMENTS"] },
  },
];

test.for(oddities)("parseSkillDocument() puts up with $name", ({ text, found, document }) => {
  const reading = parseSkillDocument(text, { directoryName: "x" });

  expect(reading.diagnostics.map(({ code, line, column }) => [code, line, column])).toEqual(found);
  expect(reading.document).toMatchObject(document);
  expect(reading.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(reading.diagnostics.every(({ file, cure }) => file === "SKILL.md" && cure !== undefined)).toBe(true);
});

const unusable: readonly { name: string; text: string | Uint8Array; code: string; line?: number }[] = [
  { name: "an empty file", text: "", code: "file-empty", line: 1 },
  { name: "nothing but spaces", text: " \n\t\n", code: "file-empty", line: 1 },
  { name: "nothing but a byte order mark", text: "\uFEFF", code: "file-empty", line: 1 },
  { name: "NUL bytes", text: "---\nname: x\ndescription: a\0b\n---\n", code: "text-binary", line: 3 },
  { name: "a file that is too large", text: "a".repeat(1_048_577), code: "file-too-large", line: 1 },
  {
    name: "a file of wide characters that is too large",
    text: `---\nname: x\ndescription: y\n---\n${"é".repeat(524_280)}`,
    code: "file-too-large",
  },
  {
    name: "front matter that is too large",
    text: `---\nname: x\ndescription: ${"a".repeat(65_536)}\n---\nBody\n`,
    code: "front-matter-too-large",
  },
  {
    name: "JavaScript in front matter",
    text: "---js\nprocess.exit(1)\n---\nBody\n",
    code: "front-matter-language",
    line: 1,
  },
  { name: "CoffeeScript in front matter", text: "--- coffee\na: 1\n---\nBody\n", code: "front-matter-language" },
  { name: "TOML in front matter", text: '+++\nname = "x"\n+++\nBody\n', code: "front-matter-language" },
  { name: "JSON in front matter", text: ';;;\n{"name":"x"}\n;;;\nBody\n', code: "front-matter-language" },
  {
    name: "JavaScript below blank lines",
    text: "\n\n---js\nprocess.exit(1)\n---\nBody\n",
    code: "front-matter-language",
  },
  {
    name: "an unresolved merge in front matter",
    text: "---\nname: x\n<<<<<<< Updated\ndescription: a\n=======\ndescription: b\n>>>>>>> Stashed\n---\nBody\n",
    code: "front-matter-conflict",
    line: 3,
  },
  { name: "front matter that is a list", text: "---\n- a\n- b\n---\nBody\n", code: "front-matter-not-map", line: 2 },
  { name: "neither description nor body", text: "---\nname: x\n---\n\n", code: "skill-empty", line: 1 },
  { name: "YAML beyond repair", text: "---\n[name: x\n: : {\n---\nBody\n", code: "yaml-invalid", line: 3 },
  {
    name: "aliases that multiply",
    text: bomb(),
    code: "yaml-alias-bomb",
  },
  { name: "an alias of itself", text: "---\nname: x\ndescription: y\na: &a [*a]\n---\nBody\n", code: "yaml-too-deep" },
  {
    name: "lists in lists in lists",
    text: `---\nname: x\ndescription: y\na: ${"[".repeat(40)}${"]".repeat(40)}\n---\nBody\n`,
    code: "yaml-too-deep",
    line: 4,
  },
];

test.for(unusable)("parseSkillDocument() skips $name, because of exactly one error", ({ text, code, line }) => {
  const { document, diagnostics } = parseSkillDocument(text, { directoryName: "x" });

  expect(document).toBeUndefined();
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect(errors).toMatchObject([{ code, file: "SKILL.md", ...(line !== undefined && { line }) }]);
});

test("parseSkillDocument() never runs what stands in front matter", () => {
  for (const text of [
    "---js\nglobalThis.hit = 1\n---\n",
    '---\nname: !!js/eval "globalThis.hit = 1"\ndescription: x\n---\n',
  ]) {
    parseSkillDocument(text);
  }

  expect("hit" in globalThis).toBe(false);
});

test("parseSkillDocument() takes bounded time for front matter that is made to be slow", { timeout: 600_000 }, () => {
  const blocks = [
    "a: b: c\n".repeat(8000),
    "- ".repeat(32_000),
    "? ".repeat(32_000),
    "[".repeat(65_000),
    "{a: ".repeat(16_000),
    "]".repeat(65_000),
    "{}".repeat(32_000),
    "&a ".repeat(21_000),
    `allowed-tools: ${"a( ".repeat(20_000)}`,
    Array.from({ length: 9000 }, (_, index) => `k${index}:`).join("\n"),
    "\t".repeat(65_000),
    "name: x\n<!--".repeat(5000),
  ];
  const started = process.cpuUsage();

  for (const block of blocks) parseSkillDocument(`---\n${block}\n---\n${"<!-- ".repeat(100_000)}`);

  // Each takes well below a second.
  expect(cpuMsSince(started)).toBeLessThan(blocks.length * 2500);
});

test("parseSkillDocument() lists no more than a few findings of one kind, and counts the rest", () => {
  const { diagnostics } = read(`---\nname: x\ndescription: y\n---\n${"a\u200Bb\n".repeat(100)}`, {
    directoryName: "x",
  });

  expect(diagnostics).toHaveLength(21);
  expect(diagnostics.at(-1)).toMatchObject({ severity: "info", code: "character-hidden", line: 25 });
  expect(diagnostics.at(-1)?.message).toContain("80 more");
});

test("parseSkillDocument() names the file as it was told to", () => {
  const { document, diagnostics } = read("---\ndescription: y\n---\nBody\n", { file: "a/b/SKILL.md" });

  expect(document?.file).toBe("a/b/SKILL.md");
  expect(diagnostics).toMatchObject([{ code: "name-missing", file: "a/b/SKILL.md" }]);
});

const violations: readonly { name: string; text: string; codes: readonly string[] }[] = [
  { name: "a byte order mark", text: "\uFEFF---\nname: x\ndescription: y\n---\nBody\n", codes: ["byte-order-mark"] },
  { name: "a blank first line", text: "\n---\nname: x\ndescription: y\n---\nBody\n", codes: ["front-matter-late"] },
  { name: "unknown keys", text: withFields("version: 1.0.0", "author: me"), codes: ["key-unknown", "key-unknown"] },
  { name: "brackets", text: withFields("metadata: {}"), codes: ["yaml-flow"] },
  { name: "keys that occur twice", text: withFields("license: a", "license: b"), codes: ["key-duplicate"] },
  { name: "anchors", text: withFields("license: &a b"), codes: ["yaml-anchor"] },
  { name: "tags", text: withFields("license: !!str b"), codes: ["yaml-tag"] },
  { name: "broken YAML that could be repaired", text: withFields("license: a: b"), codes: ["yaml-unquoted"] },
  { name: "a missing name", text: "---\ndescription: y\n---\nBody\n", codes: ["name-missing"] },
  { name: "a missing description", text: "---\nname: x\n---\nBody\n", codes: ["description-missing"] },
  { name: "a wrong directory", text: "---\nname: y\ndescription: y\n---\nBody\n", codes: ["name-mismatch"] },
  {
    name: "upper-case letters",
    text: "---\nname: X\ndescription: y\n---\nBody\n",
    codes: ["name-invalid", "name-mismatch"],
  },
  {
    name: "two hyphens in a row",
    text: "---\nname: a--b\ndescription: y\n---\nBody\n",
    codes: ["name-invalid", "name-mismatch"],
  },
  {
    name: "a hyphen at the end",
    text: "---\nname: x-\ndescription: y\n---\nBody\n",
    codes: ["name-invalid", "name-mismatch"],
  },
  {
    name: "a long description",
    text: `---\nname: x\ndescription: ${"y".repeat(1025)}\n---\nBody\n`,
    codes: ["description-too-long"],
  },
  {
    name: "a long compatibility",
    text: withFields(`compatibility: ${"y".repeat(501)}`),
    codes: ["compatibility-length"],
  },
  { name: "an empty compatibility", text: withFields('compatibility: ""'), codes: ["compatibility-length"] },
  { name: "a compatibility that is a list", text: withFields("compatibility:", "  - a"), codes: ["field-not-text"] },
];

test.for(violations)("parseSkillDocument() with spec refuses $name", ({ text, codes: expected }) => {
  const { diagnostics } = read(text, { directoryName: "x", spec: true });

  expect(codes(diagnostics.filter(({ severity }) => severity === "error"))).toEqual(expected);
});

const conforming: readonly { name: string; text: string }[] = [
  { name: "the smallest file", text: "---\nname: x\ndescription: y\n---\n" },
  { name: "letters of any script", text: "---\nname: 技能\ndescription: y\n---\nBody\n" },
  { name: "Windows line ends", text: "---\r\nname: x\r\ndescription: y\r\n---\r\nBody\r\n" },
  {
    name: "metadata with numbers, which the reference validator reads as text",
    text: withFields("metadata:", "  version: 1.0"),
  },
  { name: "commas in allowed-tools, which it does not look at", text: withFields("allowed-tools: Read, Write") },
  {
    name: "1,024 characters outside the basic plane",
    text: `---\nname: x\ndescription: ${"😀".repeat(1024)}\n---\nBody\n`,
  },
];

test.for(conforming)("parseSkillDocument() with spec accepts $name", ({ text }) => {
  const directoryName = text.includes("技能") ? "技能" : "x";

  const { document, diagnostics } = read(text, { directoryName, spec: true });

  expect(document).toBeDefined();
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
});

test("parseSkillDocument() never throws and never lies about errors, whatever the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, spec) => {
      checkReading(parseSkillDocument(bytes, { directoryName: "x", spec }), spec);
    }),
    { numRuns: 2000 },
  );
});

test("parseSkillDocument() never throws for pieces of front matter in any order", () => {
  const piece = fc.constantFrom(
    ...[
      "---",
      "---\n",
      "...\n",
      "\n",
      "\r\n",
      "\r",
      "name: x\n",
      "name:",
      "description: ",
      "a: b",
      ": ",
      "- ",
      "| ",
      "> ",
      "[",
      "]",
    ],
    ...[
      "{",
      "}",
      '"',
      "'",
      "&a ",
      "*a ",
      "!!x ",
      "? ",
      "#",
      "# T\n",
      "\t",
      "  ",
      "<<<<<<< a\n",
      "=======\n",
      ">>>>>>> b\n",
      "\uFEFF",
    ],
    ...[
      "\0",
      "\u200B",
      "\uD800",
      "__proto__: 1\n",
      "metadata:\n",
      "  a: 1\n",
      "allowed-tools: ",
      "A(b",
      ")",
      ",",
      "```",
      "!`x`",
      "：",
      "@",
      "%",
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, spec) => {
      const text = pieces.join("");
      checkReading(parseSkillDocument(text, { directoryName: "x", spec }), spec);
      checkReading(parseSkillDocument(`---\n${text}\n---\nBody`, { directoryName: "x", spec }), spec);
    }),
    { numRuns: 3000 },
  );
});

test("parseSkillDocument() gives the same document for every kind of line end", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("name: x", "description: Use: it", "metadata:", "  a: 1", "# c", ""), { maxLength: 8 }),
      (lines) => {
        const text = `---\n${lines.join("\n")}\n---\nBody\nmore\n`;
        const plainReading = parseSkillDocument(text);

        const windows = parseSkillDocument(text.replaceAll("\n", "\r\n"));

        expect(windows.document).toEqual(plainReading.document);
      },
    ),
  );
});

test("parseSkillDocument() keeps the codes it has", () => {
  expect(Object.keys(documentRules)).toMatchInlineSnapshot(`
    [
      "allowed-tools-commas",
      "allowed-tools-invalid",
      "allowed-tools-list",
      "arguments-invalid",
      "body-empty",
      "body-long",
      "byte-order-mark",
      "character-control",
      "character-hidden",
      "compatibility-length",
      "conflict-marker",
      "description-markup",
      "description-missing",
      "description-too-long",
      "encoding-invalid",
      "field-not-text",
      "file-empty",
      "file-lower-case",
      "file-misspelled",
      "file-missing",
      "file-several",
      "file-too-large",
      "file-unreadable",
      "flag-invalid",
      "front-matter-conflict",
      "front-matter-dashes",
      "front-matter-label",
      "front-matter-language",
      "front-matter-late",
      "front-matter-missing",
      "front-matter-not-map",
      "front-matter-too-large",
      "front-matter-unclosed",
      "key-duplicate",
      "key-invalid",
      "key-misspelled",
      "key-unknown",
      "line-ends-crlf",
      "line-ends-mixed",
      "metadata-not-map",
      "metadata-not-text",
      "metadata-unquoted",
      "name-invalid",
      "name-mismatch",
      "name-missing",
      "name-too-long",
      "skill-empty",
      "text-binary",
      "tools-invalid",
      "yaml-alias-bomb",
      "yaml-anchor",
      "yaml-block-inline",
      "yaml-flow",
      "yaml-invalid",
      "yaml-space-missing",
      "yaml-stray-line",
      "yaml-tab",
      "yaml-tag",
      "yaml-too-deep",
      "yaml-unquoted",
    ]
  `);
});

function read(text: string, options?: ParseOptions) {
  return parseSkillDocument(Buffer.from(text), options);
}

function codes(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code }) => code);
}

function withFields(...lines: string[]): string {
  return ["---", "name: x", "description: Does it", ...lines, "---", "Body", ""].join("\n");
}

function bomb(): string {
  const levels = Array.from("bcdefghi", (name, index) => {
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${"abcdefgh"[index]}`).join(", ")}]`;
  });
  return `---\nname: x\ndescription: y\na: &a [x, x]\n${levels.join("\n")}\n---\nBody\n`;
}

function checkReading(reading: ReturnType<typeof parseSkillDocument>, spec: boolean): void {
  const errors = reading.diagnostics.filter(({ severity }) => severity === "error");
  if (reading.document === undefined) expect(errors.length).toBeGreaterThan(0);
  if (!spec) expect(errors).toHaveLength(reading.document === undefined ? 1 : 0);
  expect(reading.document?.name ?? "x").toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/u);
  expect(reading.document?.description ?? "x").not.toBe("");
  expect(reading.document?.body.includes("\r") ?? false).toBe(false);
}
