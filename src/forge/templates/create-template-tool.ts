import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import type { ChangeOptions, Forge, ForgeAnswer, SkillAnswer } from "../forge-interface.ts";
import { anyObject, closed, toOutput } from "../tools/to-output.ts";
import { fillTemplate, findTemplate, type FilledTemplate, type TemplateWish } from "./fill-template.ts";
import { templates } from "./templates.ts";

/** Makes what a template was filled in to, through the forge. */
export function makeFilled(
  forge: Forge,
  { makes, draft }: FilledTemplate,
  options: ChangeOptions = {},
): Promise<ForgeAnswer | SkillAnswer> {
  if (makes === "skill") return forge.createSkill(draft, options);
  return "steps" in draft ? forge.createPipeline(draft, options) : forge.createTool(draft, options);
}

/** Makes the tool that makes tools and skills of templates. */
export function createTemplateTool(forge: Forge): Tool {
  return defineTool({
    name: "create_from_template",
    title: "Create from a template",
    description:
      'Makes a tool or a skill out of a template with parameters; it passes the same gate as create_tool. Without "template" it lists the templates; with one and no "name" it tells that one\'s parameters. What came of it can be read with list_versions and changed with update_tool. Example: {"template": "csv-report", "name": "sales", "parameters": {"groupBy": "region", "sumOf": "revenue"}}',
    input: closed({
      template: {
        type: "string",
        description: "Such as api-client, csv-report, sql-query, web-scraper, script-python",
      },
      name: { type: "string", description: "The name of what is made" },
      description: { type: "string", minLength: 1, description: "What it is for, in better words than the template's" },
      parameters: {
        type: "object",
        additionalProperties: true,
        description: "Of the template; what is not given has a default",
      },
    }),
    output: anyObject,
    limits: { limitMs: 600_000 },
    async run(given, { signal, call }): Promise<JsonObject> {
      const { template, name, ...rest } = given as unknown as Partial<TemplateWish>;
      if (template === undefined) return { templates: templates.map(({ name: one }) => describeTemplate(one)) };
      if (name === undefined) return { ...describeTemplate(template), parameters: findTemplate(template).parameters };
      return toOutput(await makeFilled(forge, fillTemplate({ template, name, ...rest }), { signal, call }));
    },
  });
}

function describeTemplate(asked: string): JsonObject {
  const { name, makes, description, parameters } = findTemplate(asked);
  const properties = parameters["properties"] as Readonly<Record<string, JsonObject>>;
  const values = Object.entries(properties).map(([key, schema]): [string, JsonValue] => [
    key,
    Object.hasOwn(schema, "default") ? (schema["default"] ?? null) : "(needed)",
  ]);
  return { template: name, makes, description, parameters: Object.fromEntries(values) };
}
