import { asSchema, jsonSchema, tool as aiTool } from "ai";
import { defineTool, type JsonSchema } from "kitbag";
import { z } from "zod";

import { cpuMicroseconds, type Question } from "./question.ts";

const count = 1000;

const question: Question = {
  title: "What does defining 1,000 tools cost?",
  text: `${count} tools with four parameters each are defined, up to the JSON Schema that a model sees. Kitbag also checks names, descriptions and the schema itself. The schemas are made before.`,
  unit: "ms CPU",
  rounds: 15,
  targets: [],
  contenders: async () => [
    {
      name: "kitbag, zod",
      measure: () => measureAll(zodSchema, (input, index) => defineTool({ ...words(index), input, run: () => null })),
    },
    {
      name: "ai, zod",
      measure: () =>
        measureAll(zodSchema, async (inputSchema, index) => {
          const { inputSchema: schema } = aiTool({ ...words(index), inputSchema, execute: async () => null });
          await asSchema(schema).jsonSchema;
        }),
    },
    {
      name: "kitbag, JSON Schema",
      measure: () => measureAll(rawSchema, (input, index) => defineTool({ ...words(index), input, run: () => null })),
    },
    {
      name: "ai, JSON Schema (does not look at it)",
      measure: () =>
        measureAll(rawSchema, async (schema, index) => {
          const { inputSchema } = aiTool({
            ...words(index),
            inputSchema: jsonSchema(schema),
            execute: async () => null,
          });
          await asSchema(inputSchema).jsonSchema;
        }),
    },
  ],
};

export default question;

async function measureAll<Schema>(
  makeSchema: (index: number) => Schema,
  define: (schema: Schema, index: number) => unknown,
): Promise<number> {
  const schemas = Array.from({ length: count }, (_, index) => makeSchema(index));
  const cost = await cpuMicroseconds(async () => {
    for (const [index, schema] of schemas.entries()) await define(schema, index);
  });
  return cost / 1000;
}

function words(index: number): { name: string; description: string } {
  return { name: `tool-${index}`, description: `Does the thing with number ${index}` };
}

function zodSchema(index: number): z.ZodObject {
  return z.object({
    path: z.string().min(1).describe(`Where thing ${index} is`),
    mode: z.enum(["read", "write", "append"]).default("read"),
    lines: z.array(z.int().min(0)).max(100).optional(),
    options: z.object({ deep: z.boolean(), limit: z.number().positive() }).optional(),
  });
}

function rawSchema(index: number): JsonSchema {
  return {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, description: `Where thing ${index} is` },
      mode: { enum: ["read", "write", "append"], default: "read" },
      lines: { type: "array", items: { type: "integer", minimum: 0 }, maxItems: 100 },
      options: {
        type: "object",
        properties: { deep: { type: "boolean" }, limit: { type: "number", exclusiveMinimum: 0 } },
        required: ["deep", "limit"],
      },
    },
    required: ["path"],
  };
}
