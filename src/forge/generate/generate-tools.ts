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
import type { Forge, ForgeAnswer } from "../forge-interface.ts";
import { makeFilled, fillTemplate } from "../templates/create-template-tool.ts";
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
        ? "Without a model that writes code, which the client may have, the closest template is filled in with what the description says, and the answer tells which and with what. If you can write the code, create_tool is better."
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
      const generated = await generateTool(forge, { ...(given as unknown as GenerateWish), signal, call }, write);
      const made = toOutput(generated.answer);
      if (generated.how === "model") return { how: "model", ...made };
      const { template, parameters } = generated;
      const note =
        "No model wrote it: it is a template with these parameters. Look whether it does what is wanted; change it with update_tool";
      return { how: "template", template, parameters, note, ...made };
    },
  });
}

/** Makes the tool that says what would make a tool better. */
export function createSuggestTool(forge: Forge, store: Store | undefined): Tool {
  return defineTool({
    name: "suggest_improvements",
    title: "Suggest improvements",
    description:
      "Says what would make a tool better: from its recorded calls (failures, inputs that had to be changed, slow calls, parameters that nobody gives, outputs that were cut) and from what it says about itself. Then use update_tool.",
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

/** A tool that was made from a description, and how. */
type GeneratedTool =
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
async function generateTool(forge: Forge, wish: GenerateWish, write?: WriteText): Promise<GeneratedTool> {
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

/** A template that fits a description, and what the description says about its parameters. */
interface ClosestTemplate {
  readonly template: string;
  readonly parameters: JsonObject;
}

/**
 * Finds the template of a tool whose words are nearest to a description, and takes from it what is plain: hosts, files, columns,
 * formats, names of tools. `tools` are the tools that are there: a pipeline needs some. Nothing if no word fits.
 */
export function findClosestTemplate(description: string, tools: readonly string[]): ClosestTemplate | undefined {
  const words = description.split(/[^\w./-]+/u).map((word) => word.replace(/\.+$/u, ""));
  const named = [...new Set(words)].filter((word) => tools.includes(word));
  const fit = templates.filter(({ name, makes }) => makes === "tool" && (name !== "pipeline" || named.length > 0));
  const index = createTextIndex(
    fit.map(({ name, description: text }) => ({
      id: name,
      texts: [
        [name, 3],
        [text, 1],
      ],
    })),
  );
  const template = index.search(description, 1)[0]?.id;
  return template === undefined ? undefined : { template, parameters: readParameters(template, description, named) };
}

function readParameters(template: string, text: string, tools: readonly string[]): JsonObject {
  const parameters = readers[template]?.(text, tools) ?? {};
  return Object.fromEntries(
    Object.entries(parameters).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

type Reader = (text: string, tools: readonly string[]) => Readonly<Record<string, JsonValue | undefined>>;

const readers: Readonly<Record<string, Reader>> = {
  "api-client": (text) => ({
    host: findHosts(text)[0],
    path: /https?:\/\/[^/\s]+(\/[A-Za-z0-9._~%/-]+)/u.exec(text)?.[1]?.replace(/[./]+$/u, ""),
    keyEnv: /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/u.exec(text)?.[0],
  }),
  "web-scraper": (text) => {
    const hosts = findHosts(text);
    return { hosts: hosts.length > 0 ? hosts.slice(0, 20) : undefined };
  },
  "csv-report": (text) => ({
    groupBy: findWord(text, /\b(?:group(?:s|ed)?(?: it| them| rows)? by|per|for each)/iu),
    sumOf: findWord(text, /\b(?:sums?(?: up)?(?: of)?|totals?(?: of)?|adds? up|average(?: of)?)(?: the)?/iu),
    folder: /(?<=\s|^)(\.\/[\w./-]*[\w-])\/[\w-]+\.csv\b/iu.exec(text)?.[1],
  }),
  "sql-query": (text) => ({ database: /(?<=\s|^|["'`])[\w./-]+\.(?:db|sqlite3?)\b/iu.exec(text)?.[0] }),
  "file-converter": (text) => {
    const [, from, to] =
      /\b(json|csv|ya?ml)\b.*?\b(?:to|into|as|→)\s+(?:\w+ ){0,2}?(json|csv|ya?ml)\b/iu.exec(text) ?? [];
    return { from: toFormat(from), to: toFormat(to) };
  },
  pipeline: (_text, tools) => ({ tools: tools.slice(0, 20) }),
};

/** Hosts of addresses, and words that can be nothing else. */
function findHosts(text: string): readonly string[] {
  const found = text.matchAll(/(?:https?:\/\/|(?<![\w@./-]))((?:[a-z0-9-]+\.)+[a-z]{2,24})(?![\w-]|\.\w)/giu);
  const hosts = [...found].map(([, host = ""]) => host.toLowerCase());
  return [...new Set(hosts.filter((host) => !/\.(?:csv|json|ya?ml|db|sqlite3?|py|js|ts|html?|txt|md)$/u.test(host)))];
}

/** The word after another, quoted or not. */
function findWord(text: string, before: RegExp): string | undefined {
  const pattern = new RegExp(
    `${before.source}\\s+(?:the\\s+)?(?:column\\s+)?(?:["'\`]([^"'\`]{1,100})["'\`]|(\\w{1,100}))`,
    "iu",
  );
  const [, quoted, word] = pattern.exec(text) ?? [];
  return quoted ?? word;
}

function toFormat(text: string | undefined): string | undefined {
  return text?.toLowerCase().replace("yml", "yaml");
}
