import { openGate, type McpServing, type Route } from "kitbag/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createConformanceServer } from "./create-conformance-server.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import { createStdioBridge } from "./stdio-bridge.ts";

const minutes = 60_000;
let server: McpServing;

beforeAll(async () => {
  server = await createConformanceServer();
});

afterAll(() => server.close());

test("createMcpServer() passes the 37 scored scenarios of 2026-07-28 over HTTP", { timeout: 5 * minutes }, async () => {
  const result = await look(server.route(), "--requirements", "2026-07-28");

  expect(tell("2026-07-28 over HTTP", result)).toEqual({ failed: [], passed: 37 });
});

test("createMcpServer() passes the 30 scored scenarios of 2025-11-25 over HTTP", { timeout: 5 * minutes }, async () => {
  const result = await look(server.route(), "--requirements", "2025-11-25");

  expect(tell("2025-11-25 over HTTP", result)).toEqual({ failed: [], passed: 30 });
});

test("createMcpServer() passes the 30 scored scenarios of 2025-11-25 on stdio", { timeout: 5 * minutes }, async () => {
  const result = await look(createStdioBridge(server), "--requirements", "2025-11-25");

  expect(tell("2025-11-25 on stdio", result)).toEqual({ failed: [], passed: 30 });
});

test.for([
  ["directory", 7],
  ["enumeration", 32],
  ["manifest", 6],
] as const)(
  "createMcpServer() passes sep-2640-skills-%s with %i checks",
  { timeout: minutes },
  async ([name, checks]) => {
    const { text } = await look(server.route(), "--scenario", `sep-2640-skills-${name}`);

    expect(/Passed: (\S+), (\d+) failed, (\d+) warnings/u.exec(text)?.slice(1)).toEqual([
      `${checks}/${checks}`,
      "0",
      "0",
    ]);
  },
);

test.for([
  "tasks-capability-negotiation",
  "tasks-dispatch-and-envelope",
  "tasks-lifecycle",
  "tasks-mrtr-composition",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-request-state-removal",
  "tasks-required-task-error",
  "tasks-wire-fields",
])("createMcpServer() passes %s", { timeout: minutes }, async (name) => {
  const { text } = await look(server.route(), "--scenario", name);

  expect(/Passed: (\d+)\/(\d+), 0 failed, 0 warnings/u.exec(text)?.slice(1, 3), text).toSatisfy(areEqualAndSome);
});

/** All checks passed, and there were some. */
function areEqualAndSome(found: readonly string[] | undefined): boolean {
  return found !== undefined && found[0] !== "0" && found[0] === found[1];
}

async function look(route: Route, ...options: readonly string[]): Promise<SuiteResult> {
  const gate = await openGate({ routes: [route] });
  try {
    return await runSuite(gate.url, ...options);
  } finally {
    await gate.close({ graceMs: 100 });
  }
}

/** Prints what was seen, so that a log of a run says it. */
function tell(what: string, { passed, failed, checks, text }: SuiteResult): object {
  process.stdout.write(`${what}: ${passed.length} scenarios passed, ${failed.length} failed, ${checks} checks\n`);
  if (failed.length > 0) process.stdout.write(text);
  return { failed, passed: passed.length };
}
