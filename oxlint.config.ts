import { defineConfig } from "oxlint";

import { powers, rows } from "./layers.ts";

const folders = rows.flat();

/** What the files of `folder` may not import: the rows above, its neighbours, and powers it was not given. */
function forbiddenImports(folder: string): { regex: string; message: string }[] {
  const row = rows.findIndex((names) => names.includes(folder));
  const above = rows.slice(0, row + 1).flat();
  const outOfReach = above.filter((name) => name !== folder);
  const forbiddenPowers = Object.keys(powers).filter((name) => !powers[name]?.includes(folder));
  const patterns = [
    {
      regex: `^(\\.\\./)+(src/)?(${outOfReach.join("|")})/`,
      message: `src/${folder} may import only from itself and from the rows below it (layers.ts)`,
    },
    {
      regex: `^(node:)?(${forbiddenPowers.join("|")})(/.*)?$`,
      message: `src/${folder} has no right to this module (layers.ts)`,
    },
    { regex: "^kitbag(/.*)?$", message: "import the file, not the package itself" },
    { regex: "^(\\.\\./)+index\\.ts$", message: "import the file that defines the name, not the entry" },
  ];
  if (folder === "core") patterns.push({ regex: "^node:", message: "src/core runs anywhere: no node: modules" });
  return patterns.filter(({ regex }) => !regex.includes("()"));
}

export default defineConfig({
  ignorePatterns: ["dist/**", "node_modules/**", "coverage/**"],
  plugins: ["typescript", "import", "unicorn", "oxc", "promise"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
    "max-lines-per-function": ["error", { max: 50, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", { max: 4 }],
    complexity: ["error", { max: 14 }],
    eqeqeq: "error",
    "no-console": "error",
    "no-await-in-loop": "off",
    "no-underscore-dangle": "off",
    "no-shadow": "off",
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/consistent-type-imports": ["error", { disallowTypeAnnotations: true }],
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/consistent-return": "off",
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "unicorn/prefer-node-protocol": "error",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "promise/always-return": "off",
  },
  overrides: [
    ...folders.map((folder) => ({
      files: [`**/src/${folder}/**/*.ts`],
      rules: { "no-restricted-imports": ["error", { patterns: forbiddenImports(folder) }] as const },
    })),
    {
      files: ["**/*.test.ts"],
      rules: {
        "no-restricted-imports": "off",
        "max-lines": "off",
        "max-lines-per-function": "off",
        "typescript/no-non-null-assertion": "off",
        "typescript/unbound-method": "off",
        "require-yield": "off",
        "no-unused-expressions": "off",
      },
    },
    {
      files: ["src/cli/**/*.ts", "scripts/**", "examples/**", "bench/**", "test/**"],
      rules: { "no-console": "off" },
    },
    { files: ["*.config.ts", "bench/**", "**/fixtures/**", "examples/**"], rules: { "import/no-default-export": "off" } },
  ],
});
