import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Forge, ForgeAnswer } from "../forge-interface.ts";
import { makeFilled } from "../templates/create-template-tool.ts";
import { fillTemplate } from "../templates/fill-template.ts";
import { templates } from "../templates/templates.ts";
import { askModel, type GenerateWish, type WriteText } from "./ask-model.ts";
import { findClosestTemplate } from "./closest-template.ts";

/** A tool that was made from a description, and how. */
export type GeneratedTool =
  | { readonly how: "model"; readonly answer: ForgeAnswer }
  | {
      readonly how: "template";
      readonly answer: ForgeAnswer;
      readonly template: string;
      /** What was read from the description; the others have their defaults. */
      readonly parameters: JsonObject;
    };

/**
 * Makes a tool from a description, through the gate: a model writes it; without one, the closest template is filled in.
 *
 * @throws {KitbagError} `input-invalid` if there is no model and no template is close.
 */
export async function generateTool(forge: Forge, wish: GenerateWish, write?: WriteText): Promise<GeneratedTool> {
  if (write !== undefined) return { how: "model", answer: await askModel(forge, write, wish) };
  const { description, name: asked, ...trial } = wish;
  const tools = forge.workspace.getAvailableTools().map(({ address }) => address);
  const closest = findClosestTemplate(description, tools);
  if (closest === undefined) throw nothingClose(description);
  const name = asked ?? toName(description, closest.template);
  const filled = fillTemplate({ ...closest, name, description: description.slice(0, longestDescription) });
  return { how: "template", ...closest, answer: (await makeFilled(forge, filled, trial)) as ForgeAnswer };
}

const longestDescription = 1024;
const mostWords = 4;

/** A name of the first words that say something. */
function toName(description: string, template: string): string {
  const words = description
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .match(/[a-z0-9]+/gu);
  const said = (words ?? []).filter((word) => !emptyWords.has(word)).slice(0, mostWords);
  const name = said.join("-").slice(0, 60).replace(/-$/u, "");
  return name === "" ? template : name;
}

const emptyWords = new Set([
  "a",
  "an",
  "and",
  "from",
  "i",
  "it",
  "make",
  "me",
  "of",
  "that",
  "the",
  "to",
  "tool",
  "want",
  "with",
]);

function nothingClose(description: string): KitbagError {
  const names = templates.map(({ name }) => name).join(", ");
  const expected = `words that one of the templates has (${names}), because no model is there; or write the code yourself with create_tool`;
  return new KitbagError("input-invalid", {
    tool: "generate_tool",
    problems: [{ path: "description", expected, found: JSON.stringify(description.slice(0, 200)) }],
  });
}
