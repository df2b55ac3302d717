import { expect, test } from "vitest";

import { parseManifest } from "./parse-manifest.ts";

const paths = ["scripts/extract.py", "scripts/tools/deep.sh"];

test("parseManifest() reads names, descriptions, parameters and everything else of a tool", () => {
  const { tools, diagnostics } = parseManifest(
    `tools:
  - name: extract-text
    script: extract.py
    command: pdf text
    description: Extract text
    interpreter: uv run --script
    timeout: 90s
    hidden: true
    annotations: { readOnly: true, openWorld: false }
    output: { type: object }
    examples:
      - input: { file: a.pdf }
    parameters:
      - name: file
        type: string
        description: The file
        required: true
        positional: true
      - name: pages
        type: integer
        minimum: 1
        default: 3
        flag: --pages
        aliases: [-p]
`,
    paths,
  );

  expect(diagnostics).toEqual([]);
  expect(tools).toEqual([
    {
      path: "scripts/extract.py",
      words: ["pdf", "text"],
      line: 2,
      name: "extract-text",
      description: "Extract text",
      interpreter: ["uv", "run", "--script"],
      limitMs: 90_000,
      hidden: true,
      annotations: { readOnly: true, openWorld: false },
      outputSchema: { type: "object" },
      examples: [{ input: { file: "a.pdf" } }],
      parameters: [
        {
          name: "file",
          schema: { type: "string", description: "The file" },
          required: true,
          part: { kind: "positional", property: "file" },
          line: 14,
        },
        {
          name: "pages",
          schema: { type: "integer", minimum: 1, default: 3 },
          part: { kind: "flag", property: "pages", flag: "--pages", aliases: ["-p"] },
          line: 19,
        },
      ],
    },
  ]);
});

test("parseManifest() takes parameters as a map too, in a folder below, with the folder's name before it", () => {
  const { tools, diagnostics } = parseManifest(
    "tools:\n - script: scripts/tools/deep.sh\n   parameters:\n     a: { type: string }\n     b: {}\n",
    paths,
  );

  expect(diagnostics).toEqual([]);
  expect(tools[0]).toMatchObject({
    path: "scripts/tools/deep.sh",
    parameters: [{ name: "a" }, { name: "b", schema: {} }],
  });
});

// What must be said, as code, line and the rest of the message.
const wrong: readonly { name: string; text: string; said: string }[] = [
  {
    name: "an unknown key of a tool",
    text: "tools:\n  - script: extract.py\n    descripton: x\n",
    said: 'manifest-key-unknown 3:5 Cannot use the key "descripton" of a tool: there is no such key → Did you mean "description"?',
  },
  {
    name: "an unknown key of the manifest",
    text: "tool: []\n",
    said: 'manifest-key-unknown 1:1 Cannot use the key "tool" of the manifest: there is no such key → Did you mean "tools"?',
  },
  {
    name: "an unknown key of a parameter",
    text: "tools:\n  - script: extract.py\n    parameters:\n      - name: a\n        typ: string\n",
    said: 'manifest-key-unknown 5:9 Cannot use the key "typ" of the parameter "a": there is no such key → Did you mean "type"?',
  },
  {
    name: "an unknown annotation",
    text: "tools:\n  - script: extract.py\n    annotations:\n      readonly: true\n",
    said: 'manifest-key-unknown 4:7 Cannot use the key "readonly" of the annotations: there is no such key → Did you mean "readOnly"?',
  },
  {
    name: "a script outside",
    text: "tools:\n  - script: ../../etc/passwd\n",
    said: 'manifest-script-outside 2:13 Cannot use the script "../../etc/passwd": it is not in scripts/',
  },
  {
    name: "an absolute script",
    text: "tools:\n  - script: /bin/sh\n",
    said: 'manifest-script-outside 2:13 Cannot use the script "/bin/sh": it is not in scripts/',
  },
  {
    name: "a script with a drive",
    text: "tools:\n  - script: 'C:\\x.py'\n",
    said: String.raw`manifest-script-outside 2:13 Cannot use the script "C:\\x.py": it is not in scripts/`,
  },
  {
    name: "a script that is not there",
    text: "tools:\n  - script: extrct.py\n",
    said: 'manifest-script-missing 2:13 Cannot find the script "extrct.py": there is no file "scripts/extrct.py" → Did you mean "scripts/extract.py"?',
  },
  {
    name: "no script",
    text: "tools:\n  - name: a\n",
    said: 'manifest-invalid 2:5 Cannot use a tool: it has no "script"',
  },
  {
    name: "a bad name",
    text: "tools:\n  - script: extract.py\n    name: a b\n",
    said: 'manifest-invalid 3:11 Cannot use "name": expected letters, digits',
  },
  {
    name: "a bad time-out",
    text: "tools:\n  - script: extract.py\n    timeout: soon\n",
    said: 'manifest-invalid 3:14 Cannot use "timeout": expected seconds',
  },
  {
    name: "a bad schema",
    text: "tools:\n  - script: extract.py\n    parameters:\n      - { name: a, type: strng }\n",
    said: 'manifest-invalid 4:9 Cannot use the parameter "a"',
  },
  {
    name: "two ways to pass one parameter",
    text: "tools:\n  - script: extract.py\n    parameters:\n      - { name: a, flag: --a, positional: true }\n",
    said: 'manifest-invalid 4:43 Cannot pass "a" as "flag" and as "positional": choose one',
  },
  {
    name: "a parameter without a name",
    text: "tools:\n  - script: extract.py\n    parameters:\n      - type: string\n",
    said: 'manifest-invalid 4:9 Cannot use a parameter: it has no "name"',
  },
  {
    name: "a flag of the wrong type",
    text: "tools:\n  - script: extract.py\n    hidden: maybe\n",
    said: 'manifest-invalid 3:13 Cannot use "hidden": expected true or false, found "maybe"',
  },
  {
    name: "tools that are no list",
    text: "tools: 5\n",
    said: 'manifest-invalid 1:8 Cannot use "tools": expected a list, found 5',
  },
  {
    name: "YAML that is wrong",
    text: "tools:\n  - script: [a\n",
    said: "manifest-invalid 3:1 Cannot read the manifest:",
  },
  {
    name: "a key twice",
    text: "tools: []\ntools: []\n",
    said: "manifest-invalid 2:1 Cannot read the manifest: Map keys must be unique",
  },
  { name: "an alias bomb", text: bomb(), said: "manifest-invalid 1 Cannot read the manifest: Excessive alias count" },
  {
    name: "a manifest without tools",
    text: "{}\n",
    said: 'manifest-invalid 1:1 Cannot use the manifest: it has no "tools"',
  },
];

test.for(wrong)("parseManifest() reports $name, where it stands", ({ text, said }) => {
  const { diagnostics } = parseManifest(text, paths);

  const messages = diagnostics.map(
    ({ code, line, column, message, cure }) =>
      `${code} ${[line, column].filter((at) => at !== undefined).join(":")} ${message} → ${cure ?? ""}`,
  );
  expect(messages[0]).toContain(said);
});

test("parseManifest() never throws, for any text", () => {
  const texts = [
    "",
    "\0",
    "- - - -",
    "[".repeat(5000),
    "&a [*a]",
    "? {a: b}\n: c",
    "!!js/function x",
    "tools:\n  - 5\n  - null\n  - [a]",
    "x".repeat(300_000),
    "tools:\n  - script: extract.py\n    parameters: { __proto__: { type: string } }",
  ];

  for (const text of texts) expect(() => parseManifest(text, paths)).not.toThrow();
});

function bomb(): string {
  const names = Array.from("abcdefg");
  const lines = names.map(
    (name, index) =>
      `${name}: &${name} [${Array.from({ length: 8 }, () => (index === 0 ? "x" : `*${names[index - 1]}`)).join(", ")}]`,
  );
  return lines.join("\n");
}
