/**
 * Clients of others use `kitbag serve`: each opens a skill and uses its tools. What is seen is the table in `docs/mcp-clients-table.md`;
 * `npx vitest run test/clients -u` writes it anew.
 */
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject } from "../run-kitbag.ts";
import { connectStdio } from "../support/serve-kitbag.ts";
import { loadClient, versionOf, type ClientUnderTest, type Reach } from "./client-under-test.ts";
import { driveClaude, driveCodex } from "./agents.ts";
import { frameworkClients } from "./framework-clients.ts";
import { sdkClients } from "./sdk-clients.ts";
import { createCounterProject, type CounterProject } from "./counter-project.ts";
import { driveClient, type Row } from "./drive-client.ts";
import { needClients } from "./need-clients.ts";

vi.setConfig({ testTimeout: 60_000 });

type Drive = (over: Reach["over"], project: CounterProject) => Promise<Row>;

interface Line {
  readonly client: string;
  readonly package: string;
  readonly over: Reach["over"];
  readonly drive: Drive;
}

const lines: readonly Line[] = [
  ...[...sdkClients, ...frameworkClients].flatMap((client) =>
    client.over.map((over) => ({
      client: client.name,
      package: client.package,
      over,
      drive: (way: Reach["over"], project: CounterProject) => driveClient(client, way, project),
    })),
  ),
  ...toBoth("Claude Code (Agent SDK)", "@anthropic-ai/claude-agent-sdk", async (over, project) => {
    const { row, asked } = await driveClaude(over, project);
    // Its permission rules see the tools themselves, not call_tool.
    expect(asked).toContain("mcp__kitbag__counter__count");
    return row;
  }),
  ...toBoth("Codex CLI", "@openai/codex", (over, project) => driveCodex(over, project)),
];

const seen = new Map<Line, Row>();

test.for(lines)("$client uses kitbag serve over $over", async (line, context) => {
  needClients(context);

  const row = await line.drive(line.over, createCounterProject());

  seen.set(line, row);
  expect([row.list, row.open]).toEqual(["yes", "yes"]);
  expect(row.call).toMatch(/^(?:yes|call_tool)$/u);
});

test.for(["stdio", "http"] as const)(
  "clients that keep their first list over %s have the tools of a skill in it that kitbag serve opens",
  async (over, context) => {
    needClients(context);
    const words = ["--open", "counter"];
    const langChain = frameworkClients.find(({ name }) => name.startsWith("LangChain")) as ClientUnderTest;

    const rows = [
      await driveCodex(over, createCounterProject(), words),
      await driveClient(langChain, over, createCounterProject(), words),
    ];

    expect(rows.map(({ appear, call, error }) => [appear, call, error])).toEqual([
      ["yes", "yes", "yes"],
      ["yes", "yes", "yes"],
    ]);
  },
);

test("the table of clients says what was seen", async (context) => {
  needClients(context);
  context.skip(seen.size < lines.length, "not all clients were run");

  await expect(renderTable()).toMatchFileSnapshot(join(import.meta.dirname, "../../docs/mcp-clients-table.md"));
});

test("kitbag serve costs a client at most 1,200 tokens with no skill open", async (context) => {
  needClients(context);
  const { encode } = await loadClient<{ encode(text: string): readonly number[] }>(
    "gpt-tokenizer/esm/encoding/o200k_base.js",
  );
  const { client } = await connectStdio(createProject(), [join(import.meta.dirname, "../../skills")]);

  const { tools } = await client.listTools();
  const shown = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  const tokens = encode([client.getInstructions() ?? "", ...shown].join("\n")).length;

  expect(tokens).toBeLessThanOrEqual(1200);
});

function toBoth(client: string, from: string, drive: Drive): readonly Line[] {
  return (["stdio", "http"] as const).map((over) => ({ client, package: from, over, drive }));
}

const columns = ["list", "open", "appear", "told", "call", "progress", "cancel", "error", "resource"] as const;

/** It was seen to speak the older version where the server took long to start. */
const speaksEither = /^AI SDK 7 stdio (?:2025-11-25|2026-07-28)$/u;

function renderTable(): string {
  const head = ["client", "version", "transport", "protocol", ...columns];
  const rows = lines.map((line) => {
    const row = seen.get(line) as Row;
    const protocol = speaksEither.test(`${line.client} ${line.over} ${row.protocol}`) ? "either" : row.protocol;
    return [line.client, versionOf(line.package), line.over, protocol, ...columns.map((column) => row[column])];
  });
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((cells) => cells[index]?.length ?? 0)));
  const render = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return `${intro}\n${[render(head), rule, ...rows.map(render)].join("\n")}\n`;
}

const intro = `# What MCP clients do with \`kitbag serve\`

This page is written by the tests in \`test/clients\`, which use the real packages: \`npx vitest run test/clients -u\`. Each client opens a
skill with \`activate_skill\`, lists the tools again and calls the tools of the skill. The models of Claude Code and Codex are scripted.

- \`appear\`: the tools of the opened skill are in the list that the client reads next. \`told\`: the client was told that the list changed.
- \`cancel\`: the tool stops when the client cancels the call. \`error\`: the client shows why a call failed.
- \`call_tool\`: the client keeps its first list, and reaches the tool through \`call_tool\`. \`–\`: the client does not offer it, or the test
  cannot see it. \`either\`: it speaks 2026-07-28, and 2025-11-25 where the server takes long to start.
`;
