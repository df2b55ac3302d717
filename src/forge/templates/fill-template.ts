import { KitbagError, type Problem } from "../../core/errors.ts";
import { copyJson, type JsonObject } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { SkillDraft, ToolDraft } from "../tool-draft.ts";
import type { Template } from "./template.ts";
import { templates } from "./templates.ts";

/** What is made of a template. */
export interface TemplateWish {
  readonly template: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
}

/** A template that was filled in. */
export type FilledTemplate =
  | { readonly makes: "tool"; readonly draft: ToolDraft }
  | { readonly makes: "skill"; readonly draft: SkillDraft };

const maxBytes = 256 * 1024;

/**
 * Fills in a template. Nothing is made yet: give the draft to the forge.
 *
 * @throws {KitbagError} `input-invalid` if there is no such template, or a parameter is missing or wrong.
 */
export function fillTemplate({ template: asked, name, description, parameters = {} }: TemplateWish): FilledTemplate {
  const template = findTemplate(asked);
  const copy = copyJson(parameters, { maxBytes, maxDepth: 32 });
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

/** Finds a template by its name. @throws {KitbagError} `input-invalid` if there is none. */
export function findTemplate(asked: string): Template {
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
