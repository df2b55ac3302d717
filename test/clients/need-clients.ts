import { existsSync } from "node:fs";
import { join } from "node:path";

import type { TestContext } from "vitest";

import { clientsFolder } from "./client-under-test.ts";

/** Leaves a test out where the clients are not installed. With KITBAG_REQUIRE_ALL=1 nothing is left out: the tests fail by themselves. */
export function needClients({ skip }: TestContext): void {
  if (process.env["KITBAG_REQUIRE_ALL"] === "1") return;
  const inspector = join(import.meta.dirname, "../inspector/node_modules");
  const isThere = existsSync(clientsFolder) && existsSync(inspector);
  skip(!isThere, "the clients are not installed: npm ci --ignore-scripts in test/clients and test/inspector");
}
