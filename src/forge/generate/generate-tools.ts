import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Store } from "../../core/store.ts";
import { createTextIndex } from "../../core/text-search.ts";
import { injected, type Tool } from "../../core/tool.ts";
import type { Model } from "../../models/model.ts";
import type { OwnPrices } from "../../models/prices/own-prices.ts";
import { createPriceOf } from "../../models/prices/price-of.ts";
import { findAuthor, findLimitedCaller } from "../../workspace/call/authority.ts";
import { withQuota } from "../../workspace/quotas/paid-model.ts";
import type { Forge } from "../forge-interface.ts";
import { templates } from "../templates/templates.ts";
import { anyObject, toOutput } from "../tools/to-output.ts";
import { closed } from "../drafts/draft-schema.ts";
import { askModel, type GenerateWish, toWriter, type WriteText } from "./ask-model.ts";
import { readCalls } from "./read-calls.ts";
import { suggestImprovements } from "./suggest-improvements.ts";

/** Who writes tools from descriptions. */
export interface Writers {
  readonly model?: Model;
  /** What the model costs, if you pay something else than is known. */
  readonly prices?: OwnPrices;
  /**
   * Finds what the caller has to write with, in the value that is injected as `sampling`; asked if there is no model. Add the tool with
   * a value that holds for callers who have nothing.
   */
  readonly sampling?: (client: unknown) => WriteText | undefined;
}

/** Makes the tool that makes a tool from a description. */
export function createGenerateTool(forge: Forge, { model, prices = {}, sampling }: Writers): Tool {
  const { quotas } = forge.workspace;
  const writerFor = (user: string | undefined): WriteText | undefined =>
    model && toWriter(withQuota(model, { quotas, user, findPrice: () => createPriceOf(model, { prices }) }));
  return defineTool({
    name: "generate_tool",
    title: "Generate a tool",
    description: `Makes a tool from a description in words, with examples, through the same gate as create_tool. ${
      model === undefined
        ? "It needs a model that writes code, which the client may have; without one it makes nothing and names the nearest templates. If you can write the code, create_tool is better."
        : "A model writes it and repairs it by what the gate says."
    }`,
    input: closed(
      {
        description: { type: "string", minLength: 1, maxLength: 10_000, description: "What the tool is to do" },
        name: { type: "string", description: "What it is to be called" },
      },
      ["description"],
    ),
    output: anyObject,
    limits: { limitMs: 600_000 },
    ...(model === undefined && sampling !== undefined && { inject: { sampling: injected<unknown>() } }),
    async run(given, { signal, call, injected: values }): Promise<JsonObject> {
      const write =
        writerFor(findAuthor(call).user) ?? sampling?.((values as { readonly sampling?: unknown }).sampling);
      const wish = given as unknown as GenerateWish;
      if (write === undefined) throw needsModel(wish.description);
      return { how: "model", ...toOutput(await askModel(forge, write, { ...wish, signal, call })) };
    },
  });
}

/** Makes the tool that says what would make a tool better. */
export function createSuggestTool(forge: Forge, store: Store | undefined): Tool {
  return defineTool({
    name: "suggest_improvements",
    title: "Suggest improvements",
    description:
      "Says what would make a tool better: from its recorded calls (failures, inputs that had to be changed, slow calls, unused parameters, outputs that were cut) and from what it says about itself. Then use update_tool.",
    input: closed({ name: { type: "string", minLength: 1, description: "The tool's address" } }, ["name"]),
    output: anyObject,
    annotations: { readOnly: true, idempotent: true },
    async run(given, { call }): Promise<JsonObject> {
      const { name } = given as unknown as { readonly name: string };
      const { workspace } = forge;
      const found = workspace.getTool(name);
      if (found === undefined) {
        const known = workspace.getAvailableTools().map(({ address }) => address);
        throw new KitbagError("tool-not-found", {
          tool: name,
          nearest: nearestNames(name, known),
          count: known.length,
        });
      }
      const caller = findLimitedCaller(call);
      const refused = caller?.refuse(found);
      if (refused !== undefined) throw new KitbagError(refused.code, refused.details);
      const calls = store === undefined ? [] : await readCalls(store, found.address, caller);
      return {
        name: found.address,
        calls: calls.length,
        ...(store === undefined && { note: "No calls are recorded: there is no store" }),
        suggestions: suggestImprovements(found.tool, calls) as unknown as JsonValue,
      };
    },
  });
}

/** The templates of tools whose words are nearest to a description, the nearest first. */
function findNearestTemplates(description: string): string[] {
  const index = createTextIndex(
    templates
      .filter(({ makes }) => makes === "tool")
      .map(({ name, description: text }) => ({
        id: name,
        texts: [
          [name, 3],
          [text, 1],
        ],
      })),
  );
  return index.search(description, 3).map(({ id }) => id);
}

/** Without a model nothing is made: a template that only comes near would go live as something else than was asked for. */
function needsModel(description: string): KitbagError {
  const nearest = findNearestTemplates(description);
  const named = nearest.length > 0 ? nearest : templates.map(({ name }) => name);
  const expected = `a model that writes the code, and no model is configured; use create_tool with code of your own, or create_from_template with one of the nearest templates: ${named.join(", ")}`;
  return new KitbagError("input-invalid", {
    tool: "generate_tool",
    problems: [{ path: "description", expected, found: JSON.stringify(description.slice(0, 200)) }],
  });
}
