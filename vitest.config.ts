import { availableParallelism } from "node:os";

import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

import { LastLine } from "./test/support/last-line.ts";

// Tests run the source: `import "kitbag"` means src/index.ts.
const conditions = ["@kitbag/source", ...defaultServerConditions];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Most of the time is spent waiting for programs that were started, and for limits: more files at once than there are processors.
    maxWorkers: availableParallelism() + 2,
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
