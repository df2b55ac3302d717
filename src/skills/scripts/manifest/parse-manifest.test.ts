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
    retries: 2
    rate: 100 per 1m
    cache: 10m
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
      limits: { limitMs: 90_000, retries: 2, rate: { calls: 100, inMs: 60_000 } },
      cache: { ttlMs: 600_000 },
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
          line: 17,
        },
        {
          name: "pages",
          schema: { type: "integer", minimum: 1, default: 3 },
          part: { kind: "flag", property: "pages", flag: "--pages", aliases: ["-p"] },
          line: 22,
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

test("parseManifest() reads a rate with a burst, and a cache with tags for everybody", () => {
  const { tools, diagnostics } = parseManifest(
    `tools:
  - script: extract.py
    rate: { calls: 100, per: 1.5h, burst: 10 }
    cache: { for: 30, tags: [weather, maps.v2], scope: everybody }
    retries: 0
`,
    paths,
  );

  expect(diagnostics).toEqual([]);
  expect(tools[0]).toMatchObject({
    limits: { retries: 0, rate: { calls: 100, inMs: 5_400_000, burst: 10 } },
    cache: { ttlMs: 30_000, tags: ["weather", "maps.v2"], scope: "everybody" },
  });
});

test.for(["{ readOnly: true }", "{ idempotent: true, destructive: true }"])(
  "parseManifest() takes retries for a tool with annotations: %s",
  (annotations) => {
    const { tools, diagnostics } = parseManifest(
      `tools:\n  - { script: extract.py, retries: 10, annotations: ${annotations} }\n`,
      paths,
    );

    expect(diagnostics).toEqual([]);
    expect(tools[0]?.limits).toEqual({ retries: 10 });
  },
);

test("parseManifest() keeps the tool of which a limit is wrong, without that limit", () => {
  const { tools } = parseManifest(
    "tools:\n  - { script: extract.py, timeout: 5s, retries: 3, rate: often, cache: { for: never, tags: [a] } }\n",
    paths,
  );

  expect(tools).toEqual([{ path: "scripts/extract.py", words: [], line: 2, limits: { limitMs: 5000 } }]);
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
    said: 'manifest-script-outside 2:13 Cannot use the script "../../etc/passwd": it is not in the skill\'s folder',
  },
  {
    name: "an absolute script",
    text: "tools:\n  - script: /bin/sh\n",
    said: 'manifest-script-outside 2:13 Cannot use the script "/bin/sh": it is not in the skill\'s folder',
  },
  {
    name: "a script with a drive",
    text: "tools:\n  - script: 'C:\\x.py'\n",
    said: String.raw`manifest-script-outside 2:13 Cannot use the script "C:\\x.py": it is not in the skill's folder`,
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
    name: "retries of a tool of which nothing is said",
    text: "tools:\n  - script: extract.py\n    retries: 2\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": the tool is neither idempotent nor read-only, so it must not be run twice → If it may be run twice, add annotations: { idempotent: true }, or { readOnly: true } if it changes nothing',
  },
  {
    name: "retries of a tool that says it may not be run twice",
    text: "tools:\n  - script: extract.py\n    retries: 2\n    annotations: { idempotent: false, destructive: true }\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": the tool is neither idempotent nor read-only',
  },
  {
    name: "too many retries",
    text: "tools:\n  - script: extract.py\n    retries: 11\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": expected a whole number from 0 to 10, found 11',
  },
  {
    name: "retries that are no whole number",
    text: "tools:\n  - script: extract.py\n    retries: 1.5\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": expected a whole number from 0 to 10, found 1.5',
  },
  {
    name: "retries below zero",
    text: "tools:\n  - script: extract.py\n    retries: -1\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": expected a whole number from 0 to 10, found -1',
  },
  {
    name: "retries as a text",
    text: "tools:\n  - script: extract.py\n    retries: many\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": expected a whole number from 0 to 10, found "many"',
  },
  {
    name: "retries without a number",
    text: "tools:\n  - script: extract.py\n    retries: .nan\n",
    said: 'manifest-invalid 3:14 Cannot use "retries": expected a whole number from 0 to 10, found null',
  },
  {
    name: "a rate in other words",
    text: "tools:\n  - script: extract.py\n    rate: often\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": expected a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }, found ',
  },
  {
    name: "a rate of no calls",
    text: "tools:\n  - script: extract.py\n    rate: 0 per 1m\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": expected a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }, found ',
  },
  {
    name: "a rate without a time",
    text: "tools:\n  - script: extract.py\n    rate: 100\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": expected a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }, found ',
  },
  {
    name: "a rate in no time",
    text: "tools:\n  - script: extract.py\n    rate: 5 per 0s\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": expected a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }, found ',
  },
  {
    name: "a rate as a list",
    text: "tools:\n  - script: extract.py\n    rate: [1]\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": expected a text such as 100 per 1m, or { calls: 100, per: 1m, burst: 10 }, found ',
  },
  {
    name: "a rate without calls",
    text: "tools:\n  - script: extract.py\n    rate: { per: 1m }\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": it has no "calls" → Add calls: 100',
  },
  {
    name: "a rate without per",
    text: "tools:\n  - script: extract.py\n    rate: { calls: 5 }\n",
    said: 'manifest-invalid 3:11 Cannot use "rate": it has no "per" → Add per: 10m',
  },
  {
    name: "an unknown key of a rate",
    text: "tools:\n  - script: extract.py\n    rate: { calls: 5, per: 1m, brst: 2 }\n",
    said: 'manifest-key-unknown 3:32 Cannot use the key "brst" of the rate: there is no such key → Did you mean "burst"?',
  },
  {
    name: "a rate with a bad burst",
    text: "tools:\n  - script: extract.py\n    rate: { calls: 5, per: 1m, burst: 0 }\n",
    said: 'manifest-invalid 3:39 Cannot use "burst": expected a whole number above 0, found 0',
  },
  {
    name: "a rate with bad calls",
    text: "tools:\n  - script: extract.py\n    rate: { calls: 5e99, per: 1m }\n",
    said: 'manifest-invalid 3:20 Cannot use "calls": expected a whole number above 0',
  },
  {
    name: "a rate with a bad time",
    text: "tools:\n  - script: extract.py\n    rate: { calls: 5, per: minute }\n",
    said: 'manifest-invalid 3:28 Cannot use "per": expected a time such as 30s, 10m or 1d, of at most a year, found "minute"',
  },
  {
    name: "a cache without end",
    text: "tools:\n  - script: extract.py\n    cache: forever\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time such as 30s, 10m or 1d, of at most a year',
  },
  {
    name: "a cache of no time",
    text: "tools:\n  - script: extract.py\n    cache: 0s\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time such as 30s, 10m or 1d, of at most a year',
  },
  {
    name: "a cache of more than a year",
    text: "tools:\n  - script: extract.py\n    cache: 366d\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time such as 30s, 10m or 1d, of at most a year',
  },
  {
    name: "a cache that is switched on",
    text: "tools:\n  - script: extract.py\n    cache: true\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time such as 30s, 10m or 1d, of at most a year',
  },
  {
    name: "a cache as a list",
    text: "tools:\n  - script: extract.py\n    cache: [10m]\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time such as 30s, 10m or 1d, of at most a year',
  },
  {
    name: "a cache without a time",
    text: "tools:\n  - script: extract.py\n    cache: { tags: [a] }\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": it has no "for" → Add for: 10m',
  },
  {
    name: "an unknown key of a cache",
    text: "tools:\n  - script: extract.py\n    cache: { for: 1m, tag: a }\n",
    said: 'manifest-key-unknown 3:23 Cannot use the key "tag" of the cache: there is no such key → Did you mean "tags"?',
  },
  {
    name: "a key of a cache that is not its own",
    text: "tools:\n  - script: extract.py\n    cache: { for: 1m, __proto__: a }\n",
    said: 'manifest-invalid 3:12 Cannot use "cache": expected a time',
  },
  {
    name: "tags that are no list",
    text: "tools:\n  - script: extract.py\n    cache: { for: 1m, tags: a }\n",
    said: 'manifest-invalid 3:29 Cannot use "tags": expected a list of words, found "a"',
  },
  {
    name: "a tag that is no name",
    text: "tools:\n  - script: extract.py\n    cache: { for: 1m, tags: [a, b c] }\n",
    said: 'manifest-invalid 3:33 Cannot use "tags": expected letters, digits',
  },
  {
    name: "a cache for somebody else",
    text: "tools:\n  - script: extract.py\n    cache: { for: 1m, scope: world }\n",
    said: 'manifest-invalid 3:30 Cannot use "scope": expected "user" or "everybody", found "world"',
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
