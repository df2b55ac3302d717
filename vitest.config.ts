import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["@kitbag/source"] },
  ssr: { resolve: { conditions: ["@kitbag/source"] } },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    coverage: {
      provider: "v8",
      include: ["src/core/**", "src/workspace/**"],
      exclude: ["**/*.test.ts"],
    },
  },
});
