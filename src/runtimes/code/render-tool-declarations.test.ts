import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { renderToolDeclarations, type AvailableTool } from "./render-tool-declarations.ts";

test("renderToolDeclarations() of nothing is nothing", () => {
  expect(renderToolDeclarations([])).toBe("");
});

test("renderToolDeclarations() writes what a programmer would", () => {
  const read = available("git-hub/read-issue", {
    description: "Reads one issue.\nUse it before you answer.",
    input: {
      type: "object",
      properties: {
        number: { type: "integer", minimum: 1, description: "Which one" },
        state: { enum: ["open", "closed"], default: "open" },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["number"],
    },
    output: {
      type: "object",
      properties: { title: { type: "string" }, author: { type: "object", properties: { name: { type: "string" } } } },
      required: ["title"],
    },
  });
  const now = available("now", { description: "Tells the time", output: { type: "string", format: "date-time" } });
  const find = available("find", { input: { type: "object", properties: { text: { type: "string" } } } });

  expect(renderToolDeclarations([read, now, find])).toMatchInlineSnapshot(`
    "declare const tools: {
      /** Tells the time */
      now(): Promise<string>;
      /** Does something */
      find(input?: {
        text?: string;
      }): Promise<unknown>;
      git_hub: {
        /** Reads one issue. Use it before you answer. */
        read_issue(input: {
          /** Which one, whole, ≥ 1 */
          number: number;
          /** @default "open" */
          state?: "open" | "closed";
          labels?: string[];
        }): Promise<{
          title: string;
          author?: {
            name?: string;
          };
        }>;
      };
    };"
  `);
});

test("renderToolDeclarations() writes something that TypeScript can read, whatever the tools are", () => {
  const input: JsonSchema = {
    type: "object",
    properties: {
      "odd-name": { type: ["string", "null"], description: "Ends */ the comment\n// and goes on" },
      deep: { type: "object", properties: { a: { anyOf: [{ type: "number" }, { const: "x" }] } }, required: ["a"] },
      tuple: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }] },
      map: { type: "object", additionalProperties: { type: "boolean" } },
      any: true,
      tree: { $ref: "#/$defs/tree" },
      end: { type: "string", default: "*/" },
    },
    $defs: { tree: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } } } },
  };
  const tools = [
    available("pdf", { input }),
    available("pdf/merge", { input, output: { type: "array", items: { type: "number" } } }),
    available("a-b/x", { input }),
    available("a_b/x", {}),
    available("box/read-it", {}),
    available("box/read_it", {}),
    available("box/delete", {}),
    available("3d/view", { description: "Shows */ process.exit() /*" }),
  ];
  const use = `
    const a: Promise<number[]> = tools["pdf/merge"]();
    tools.pdf({ "odd-name": null, deep: { a: "x" }, tuple: [1, "x"], map: { b: true } });
    tools.box["read-it"](); tools.box.read_it(); tools.box.delete(); tools._3d.view();
    tools["a-b/x"]({}); tools["a_b/x"]();
    // @ts-expect-error -- a is neither a number nor "x"
    tools.pdf({ deep: { a: "y" } });
    void a;`;

  expect(compile(`${renderToolDeclarations(tools)}\n${use}`)).toBe("");
});

function available(
  address: string,
  { description = "Does something", input, output }: { description?: string; input?: JsonSchema; output?: JsonSchema },
): AvailableTool {
  const name = address.slice(address.indexOf("/") + 1);
  const parts = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
  return { address, tool: defineTool({ name, description, ...parts, run: () => null }) };
}

/** What the compiler says. */
function compile(source: string): string {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-declarations-"));
  const file = join(directory, "program.ts");
  const tsc = resolve(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
  try {
    writeFileSync(file, source);
    execFileSync(process.execPath, [
      tsc,
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--target",
      "es2022",
      "--types",
      "",
      file,
    ]);
    return "";
  } catch (cause) {
    return String((cause as { stdout: Buffer }).stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
