import { globSync } from "node:fs";
import { basename, join } from "node:path";

import { defineConfig, type OxlintOverride } from "oxlint";

import { powers, rows } from "./layers.ts";

const folders = rows.flat();

/** The files of `src/` itself: what the package shows. */
const entries = globSync(join(import.meta.dirname, "src/*.ts")).map((file) => basename(file, ".ts"));

interface Pattern {
  readonly regex: string;
  readonly message: string;
}

/** What no file of `src/` may import. */
const everywhere: readonly Pattern[] = [
  { regex: "^kitbag(/.*)?$", message: "import the file, not the package itself" },
  { regex: "^\\.{1,2}/(.*/)?index(\\.[jt]s)?$", message: "import the file that defines the name, not an entry" },
  {
    regex: `^(\\.\\./)+(src/)?(${["index", ...entries].join("|")})(\\.[jt]s)?$`,
    message: "import the file that defines the name, not an entry",
  },
];

/** What the files of `folder` may not import: the rows above, its neighbours, and powers it was not given. */
function forbiddenImports(folder: string): Pattern[] {
  const row = rows.findIndex((names) => names.includes(folder));
  const outOfReach = rows
    .slice(0, row + 1)
    .flat()
    .filter((name) => name !== folder);
  const forbiddenPowers = Object.keys(powers).filter((name) => !powers[name]?.includes(folder));
  const patterns = [...everywhere];
  if (outOfReach.length > 0) {
    patterns.push({
      regex: `(^|/)\\.\\./(src/)?(${outOfReach.join("|")})/`,
      message: `src/${folder} may import only from itself and from the rows below it (layers.ts)`,
    });
  }
  if (forbiddenPowers.length > 0) {
    patterns.push({
      regex: `^(node:)?(${forbiddenPowers.join("|")})(/.*)?$`,
      message: `src/${folder} has no right to this module (layers.ts)`,
    });
  }
  if (folder === "core") patterns.push({ regex: "^node:", message: "src/core runs anywhere: no node: modules" });
  return patterns;
}

/** The entries of `src/` itself show what is below the ways in; those have entries of their own. */
function forbiddenInEntry(): Pattern[] {
  const waysIn = rows.slice(0, 3).flat();
  return [{ regex: `^\\./(${waysIn.join("|")})/`, message: "an entry of src/ itself does not load the ways in" }];
}

function restrictImports(files: string[], patterns: Pattern[]): OxlintOverride {
  return { files, rules: { "no-restricted-imports": ["error", { patterns }] } };
}

export default defineConfig({
  ignorePatterns: ["dist/**", "node_modules/**", "coverage/**", ".kitbag/**", "test/real-scripts/skills/**"],
  plugins: ["typescript", "import", "unicorn", "oxc", "promise"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    // Size
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "max-lines-per-function": ["error", { max: 50, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", { max: 4 }],
    complexity: ["error", { max: 14 }],
    // Shape
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-duplicates": "error",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "unicorn/prefer-node-protocol": "error",
    "unicorn/catch-error-name": ["error", { name: "cause" }],
    "typescript/consistent-type-imports": ["error", { disallowTypeAnnotations: true }],
    // Traps
    eqeqeq: "error",
    "no-console": "error",
    "no-restricted-properties": [
      "error",
      { object: "process", property: "getBuiltinModule", message: "import the module, so that layers.ts sees it" },
    ],
    "no-warning-comments": "error",
    "typescript/ban-ts-comment": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-deprecated": "error",
    "typescript/no-misused-promises": "error",
    "typescript/only-throw-error": "error",
    "typescript/prefer-promise-reject-errors": "error",
    "typescript/return-await": ["error", "error-handling-correctness-only"],
    "typescript/switch-exhaustiveness-check": "error",
    "unicorn/no-abusive-eslint-disable": "error",
    // Steps that wait for each other are a loop; where they need not wait, we write Promise.all.
    "no-await-in-loop": "off",
    // `_` is our name for what is left out.
    "no-underscore-dangle": "off",
    // A parameter named like an outer thing of the same meaning reads better than an invented name.
    "no-shadow": "off",
    // Values are never changed in place: a changed copy is what we want.
    "oxc/no-map-spread": "off",
    // Functions are at the bottom of a file, or inside a closure for the reader's sake.
    "unicorn/consistent-function-scoping": "off",
    // A value that was checked at run time is asserted to be what the check says.
    "typescript/no-unsafe-type-assertion": "off",
    // Callers in plain JavaScript give what the types forbid: our checks convert it before they show it.
    "typescript/no-unnecessary-type-conversion": "off",
    // `Record<never, never>` is how "nothing is injected" is written.
    "typescript/no-generated-empty-object-type": "off",
    // Objects are closures: their methods never use `this`.
    "typescript/unbound-method": "off",
    // `undefined` is an answer that functions give by ending; the compiler checks the types.
    "typescript/consistent-return": "off",
    "promise/always-return": "off",
    // `fc.assert` is how fast-check is read.
    "import/no-named-as-default-member": "off",
    // `then` is a keyword of JSON Schema.
    "unicorn/no-thenable": "off",
    // A loop that may change what it walks over walks over a copy.
    "unicorn/no-useless-spread": "off",
    // Text of others is searched for control characters on purpose.
    "no-control-regex": "off",
  },
  overrides: [
    { files: ["src/**/*.ts"], rules: { "typescript/explicit-module-boundary-types": "error" } },
    ...folders.map((folder) => restrictImports([`src/${folder}/**/*.ts`], forbiddenImports(folder))),
    restrictImports(["src/*.ts"], forbiddenInEntry()),
    // They run inside a sandbox, which says what they may do, and nothing else of ours is there.
    restrictImports(
      ["src/**/inside/**/*.ts"],
      [{ regex: "^(?!node:|\\./)", message: "a program that runs inside imports node: modules and its siblings" }],
    ),
    // An entry is a list of what its neighbours define.
    restrictImports(
      ["src/*/index.ts", "src/http/client.ts", "src/adapters/{ai-sdk,langchain,mastra,openai-agents}.ts"],
      [],
    ),
    {
      files: ["**/*.test.ts"],
      plugins: ["typescript", "import", "unicorn", "oxc", "promise", "vitest"],
      rules: {
        "no-restricted-imports": "off",
        "max-lines": "off",
        "max-lines-per-function": "off",
        "typescript/no-non-null-assertion": "off",
        "typescript/explicit-module-boundary-types": "off",
        // Tools under test may be generators that yield nothing.
        "require-yield": "off",
        // A test knows what it put in.
        "typescript/no-base-to-string": "off",
        "vitest/valid-title": ["error", { disallowedWords: ["should", "works", "correctly"] }],
        "vitest/max-nested-describe": ["error", { max: 1 }],
        "vitest/no-disabled-tests": "error",
        "vitest/no-focused-tests": "error",
      },
    },
    {
      files: ["src/cli/**/*.ts", "scripts/**", "examples/**", "bench/**", "test/**"],
      rules: { "no-console": "off" },
    },
    {
      files: ["*.config.ts", "bench/**", "**/fixtures/**", "examples/**"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
