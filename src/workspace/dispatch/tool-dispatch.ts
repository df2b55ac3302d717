import type { ErrorCode } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { toVisibleText } from "../../core/hidden-characters.ts";
import { toVisibleSchema } from "../../core/schema/close-schema.ts";
import { renderToolDeclarations } from "../../runtimes/code/render-tool-declarations.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { createDispatchTool, done, type DispatchTool } from "./dispatch-tool.ts";
import { toDeclaration, type DispatchView } from "./dispatch-view.ts";

const readOnly = { readOnly: true, idempotent: true } as const;

/** More is found than is shown, because what a model may not know of is left out afterwards. */
const mostFound = 1000;

type Detail = "names" | "summary" | "schema" | "json" | "typescript";

interface SearchInput {
  readonly query: string;
  readonly limit: number;
  readonly detail: Detail;
}

const searchProperties = {
  query: { type: "string", minLength: 1, description: "What you want to do, in a few words" },
  limit: { type: "integer", minimum: 1, maximum: 50, default: 10, description: "How many tools at most" },
  detail: {
    type: "string",
    enum: ["names", "summary", "schema", "json", "typescript"],
    default: "summary",
    description:
      "How much to tell of each tool; schema tells what it takes, json as JSON Schema, typescript declares it for programs",
  },
} as const;

/** Makes the tool that finds tools and skills by words. */
export function searchTools(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "search_tools",
    description:
      "Finds tools and skills by what you want to do, the best first, and says of each tool whether it is available; if not, open its skill first with activate_skill.",
    properties: searchProperties,
    required: ["query"],
    annotations: readOnly,
    run: (input) => done(search(view, input as unknown as SearchInput)),
  });
}

function search(view: DispatchView, { query, limit, detail }: SearchInput): object {
  const { session } = view;
  const skills = new Set(view.skills().map((skill) => skill.name));
  const found = session.search(query, { limit: mostFound });
  const tools = found.flatMap(({ kind, address }) => (kind === "tool" ? (view.getTool(address) ?? []) : []));
  const shown = tools.slice(0, limit);
  const closed = found.filter(({ kind, address, available }) => kind === "skill" && !available && skills.has(address));
  return {
    tools: shown.map((entry) => show(view, entry, detail)),
    ...(detail === "typescript" && { declarations: renderToolDeclarations(shown) }),
    ...(tools.length > limit && { more: tools.length - limit }),
    skills: closed
      .slice(0, limit)
      .map(({ address: name, description }) => ({ name, description: firstLine(description) })),
  };
}

function show(view: DispatchView, entry: RegisteredTool, detail: Detail): object | string {
  if (detail === "names" || detail === "typescript") return entry.wireName;
  const { name, description, ...schemas } = toDeclaration(entry);
  const state = describeState(view, entry);
  if (detail === "json") return { name, description, inputSchema: toVisibleSchema(entry.tool.inputSchema), ...state };
  return detail === "schema"
    ? { name, description, ...schemas, ...state }
    : { name, description: firstSentence(description), ...state };
}

/** Whether a tool can be called now, and what to open if not. */
function describeState({ session }: DispatchView, { address, source, owner }: RegisteredTool): object {
  return { available: session.isToolAvailable(address), ...(source === "skill" && { skill: owner }) };
}

/** What a tool does is said first; when to use it is said where it is declared. */
function firstSentence(text: string): string {
  const line = firstLine(text);
  return /^.{20,}?[.!?](?=\s)/u.exec(line)?.[0] ?? line;
}

const longestLine = 200;

/** The beginning of a description, enough to choose by. */
export function firstLine(text: string): string {
  const line = toVisibleText(text).trim().split("\n", 1)[0] as string;
  return line.length > longestLine ? `${line.slice(0, longestLine - 1).trimEnd()}…` : line;
}

const describeProperties = {
  name: { type: "string", minLength: 1, description: "As search_tools or activate_skill gave it" },
} as const;

/** Makes the tool that tells all about one tool. */
export function describeTool(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "describe_tool",
    description: "Tells what one tool does, what it takes and gives, and whether it can be called now.",
    properties: describeProperties,
    required: ["name"],
    annotations: readOnly,
    run(input) {
      const entry = view.findTool(input["name"] as string);
      const { version, annotations, examples, needsApproval } = entry.tool;
      return done({
        ...toDeclaration(entry),
        ...describeState(view, entry),
        ...(version !== undefined && { version }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(needsApproval && { needsApproval }),
        ...(examples.length > 0 && { examples }),
      });
    },
  });
}

interface CallInput {
  readonly name: string;
  readonly version?: string;
  readonly input: JsonValue;
}

const callProperties = {
  name: { type: "string", minLength: 1, description: "As search_tools or activate_skill gave it" },
  version: { type: "string", description: "Only if it must be this one" },
  input: { type: "object", additionalProperties: true, default: {}, description: "What the tool takes" },
} as const;

/** Failures that name tools and skills. */
const codesAboutNames: ReadonlySet<string> = new Set<ErrorCode>([
  "tool-not-found",
  "tool-unavailable",
  "tool-ambiguous",
]);

/** Makes the tool that calls any other, the way every call takes. */
export function callTool(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "call_tool",
    description:
      "Calls a tool that is available and answers with its output. The input must fit what search_tools, describe_tool or activate_skill told of the tool.",
    properties: callProperties,
    required: ["name"],
    annotations: {},
    findCalled: (given) => findCalled(view, given),
    async run(given, context) {
      const { name, version, input } = given as unknown as CallInput;
      // A wire name cannot have a version behind it, but an address can.
      const address = version === undefined ? name : `${view.findTool(name).address}@${version}`;
      const outcome = await view.session.call(address, input, context);
      // The session says more of tools than a model may know, such as those that only people open.
      if (outcome.status === "failed" && codesAboutNames.has(outcome.error.code)) view.findTool(name);
      return outcome;
    },
  });
}

function findCalled(view: DispatchView, given: unknown): RegisteredTool | undefined {
  const { name, version } = (given ?? {}) as Partial<Record<keyof CallInput, unknown>>;
  const entry = typeof name === "string" ? view.getTool(name) : undefined;
  if (entry === undefined || version === undefined) return entry;
  return typeof version === "string" ? view.session.getTool(`${entry.address}@${version}`) : undefined;
}
