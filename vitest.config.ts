import { availableParallelism } from "node:os";

import { defaultServerConditions } from "vite";
import { configDefaults, defineConfig } from "vitest/config";

import { LastLine } from "./test/support/last-line.ts";

// Tests run the source: `import "kitbag"` means src/index.ts.
const conditions = ["@kitbag/source", ...defaultServerConditions];

/** Tests of what a whole process knows, has loaded or takes: each of these files has a process of its own. The others share theirs. */
const alone = [
  "src/core/loaded-secrets.test.ts",
  "src/runtimes/script/loaded-secrets.test.ts",
  "src/sandbox/self-test.test.ts",
  "src/workspace/telemetry/*.test.ts",
];

const all = ["src/**/*.test.ts", "test/**/*.test.ts"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Most of the time is spent waiting for programs that were started, and for limits: more files at once than there are processors.
    maxWorkers: availableParallelism() + 2,
    // Most of the time of a small file was the start of its worker and its imports. What a test replaces is put back.
    projects: [
      {
        extends: true,
        test: { name: "together", include: all, exclude: [...configDefaults.exclude, ...alone], isolate: false },
      },
      { extends: true, test: { name: "alone", include: alone, isolate: true } },
    ],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    testTimeout: 60_000,
    globalSetup: "./test/support/build-command.ts",
    reporters: ["default", new LastLine()],
    // The code of skills is loaded by Node itself, as in a program: what is checked there must not be bypassed.
    server: { deps: { external: [/\?kitbag=/u] } },
    coverage: {
      provider: "v8",
      include: ["src/core/**", "src/workspace/**"],
      exclude: ["**/*.test.ts"],
      reporter: [["text", { skipFull: true }]],
      thresholds: {
        "src/core/**": { branches: 100 },
        "src/workspace/**": { branches: 100 },
      },
    },
  },
});
