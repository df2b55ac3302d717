import { defineTool } from "../../core/define-tool.ts";
import { type JsonObject, type JsonValue, copyJson } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import type { ChangeOptions, Forge, ForgeAnswer, SkillAnswer } from "../forge-interface.ts";
import { anyObject, toOutput } from "../tools/to-output.ts";
import { closed } from "../drafts/draft-schema.ts";
import { templates } from "./templates.ts";
import { KitbagError, type Problem } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { SkillDraft, ToolDraft } from "../drafts/tool-draft.ts";
import type { Template } from "./template.ts";

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
      config: { type: "object", additionalProperties: true, description: "Another name for parameters" },
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

/** What is made of a template. */
interface TemplateWish {
  readonly template: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  /** The same; where both say something, `parameters` counts. */
  readonly config?: JsonObject;
}

/** A template that was filled in. */
type FilledTemplate =
  | { readonly makes: "tool"; readonly draft: ToolDraft }
  | { readonly makes: "skill"; readonly draft: SkillDraft };

const maxBytes = 256 * 1024;

/**
 * Fills in a template. Nothing is made yet: give the draft to the forge.
 *
 * @throws {KitbagError} `input-invalid` if there is no such template, or a parameter is missing or wrong.
 */
export function fillTemplate(wish: TemplateWish): FilledTemplate {
  const { template: asked, name, description, parameters = {}, config = {} } = wish;
  const template = findTemplate(asked);
  const copy = copyJson(toOwnNames(template, { ...config, ...parameters }), { maxBytes, maxDepth: 32 });
  if (!copy.ok) throw refuse([{ path: "parameters", expected: "JSON of at most 256 KiB", found: "something else" }]);
  const checked = checkLeniently(template.parameters, copy.value);
  if (!checked.ok) throw refuse(checked.problems.map((problem) => describe(template, problem)));
  const filling = {
    name,
    values: checked.value as JsonObject,
    ...(description !== undefined && { description }),
  };
  return template.makes === "tool"
    ? { makes: "tool", draft: template.toDraft(filling) }
    : { makes: "skill", draft: template.toDraft(filling) };
}

/** Parameters by the names of the template: `base_url` and `base-url` mean `baseUrl`. */
function toOwnNames({ parameters }: Template, given: JsonObject): JsonObject {
  const known = parameters["properties"] as Readonly<Record<string, JsonObject>>;
  const pairs = Object.entries(given).map(([key, value]): [string, JsonValue] => {
    const own = key.replaceAll(/[_-]([a-z])/gu, (_, letter: string) => letter.toUpperCase());
    return [!Object.hasOwn(known, key) && Object.hasOwn(known, own) && !Object.hasOwn(given, own) ? own : key, value];
  });
  return Object.fromEntries(pairs);
}

/** Finds a template by its name. @throws {KitbagError} `input-invalid` if there is no such template. */
function findTemplate(asked: string): Template {
  const found = templates.find(({ name }) => name === asked);
  if (found !== undefined) return found;
  const names = templates.map(({ name }) => name);
  const [nearest] = nearestNames(asked, names, 1);
  const problem = {
    path: "template",
    expected: `one of ${names.join(", ")}`,
    found: JSON.stringify(asked.slice(0, 100)),
  };
  throw refuse([{ ...problem, ...(nearest !== undefined && { didYouMean: nearest }) }]);
}

/** A parameter that is missing or wrong is told with all that its schema says. */
function describe({ parameters }: Template, problem: Problem): Problem {
  const [first = ""] = problem.path.split(/[.[]/u);
  const properties = parameters["properties"] as Readonly<Record<string, JsonObject>>;
  const schema = Object.hasOwn(properties, first) ? properties[first] : undefined;
  const path = problem.path === "" ? "parameters" : `parameters.${problem.path}`;
  if (schema === undefined) return { ...problem, path };
  return { ...problem, path, expected: `${problem.expected}, as in ${JSON.stringify(schema)}` };
}

function refuse(problems: readonly Problem[]): KitbagError {
  return new KitbagError("input-invalid", { tool: "create_from_template", problems });
}
