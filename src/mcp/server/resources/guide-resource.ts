import { toVisibleText } from "../../../core/hidden-characters.ts";
import { forgeToolNames } from "../../../core/own-tools.ts";
import type { Skill } from "../../../core/skill.ts";
import { firstLine } from "../../../workspace/dispatch/tool-dispatch.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import { describeSkill } from "../../../workspace/skills/render-skills.ts";
import type { ServedClient } from "../client.ts";
import { findVisibleSkills } from "../skills/attach-skills.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import type { ResourcePart } from "./resource-part.ts";
import { runResources } from "./run-resources.ts";
import { findShownTools } from "../shown-tools.ts";

const uri = toKitbagUri("guide");
const mimeType = "text/markdown";

const guide = [
  {
    uri,
    name: "guide",
    title: "Guide",
    description: "What is here now, and how to use it: tools, skills, how to call a tool, how to open a skill",
    mimeType,
    annotations: { audience: ["user" as const, "assistant" as const], priority: 1 },
  },
];

/** The guide: written anew each time it is read. */
export const guideResource: ResourcePart = {
  kind: "guide",
  isFor: () => true,
  templates: [],
  list: () => guide,
  read: ({ name }, client) => (name === "" ? { contents: [{ uri, mimeType, text: renderGuide(client) }] } : undefined),
};

/** How many tools and skills are listed by name; of the others, only the number is given. */
const mostNamed = 50;

/**
 * Writes down what is there now for a client, and how to use it. Only names of tools that it is shown stand in backticks: readers
 * can rely on that.
 */
export function renderGuide(client: ServedClient): string {
  const facts: GuideFacts = {
    client,
    shown: findShownTools(client),
    skills: findVisibleSkills(client),
  };
  return [
    "# Kitbag: what is here, and how to use it",
    renderSummary(facts),
    ...renderCalling(facts),
    ...renderSkills(facts),
    ...renderTools(facts),
    ...renderForge(facts),
    renderResources(facts),
  ].join("\n\n");
}

interface GuideFacts {
  readonly client: ServedClient;
  readonly shown: ReadonlySet<string>;
  readonly skills: readonly Skill[];
}

function renderSummary({ client: { session }, skills }: GuideFacts): string {
  const tools = session.getAvailableTools().length;
  const open = session.getActiveSkills().length;
  return `There are ${count(tools, "tool")} that can be called now and ${count(skills.length, "skill")}, ${open} of them open. A skill is instructions and tools for one kind of work; its tools can be called while it is open.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Lines about tools; one is left out if the client is not shown the tool that it is about. */
function linesAbout(shown: ReadonlySet<string>, lines: readonly (readonly [tool: string, text: string])[]): string[] {
  return lines.filter(([tool]) => shown.has(tool)).map(([tool, text]) => `- \`${tool}\`: ${text}`);
}

function section(title: string, lines: readonly string[], before: readonly string[] = []): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, ...before, lines.join("\n")];
}

function renderCalling({ shown }: GuideFacts): string[] {
  return section(
    "How to call a tool",
    linesAbout(shown, [
      ["search_tools", "finds tools by words that say what you want to do, also those of skills that are not open."],
      ["describe_tool", "tells what one tool takes and gives."],
      [
        "call_tool",
        'calls any tool that is available: { "name": …, "input": { … } }. It works also if your list of tools is old.',
      ],
      ["call_tools", "makes several calls in one request."],
    ]),
  );
}

function renderSkills({ client, shown, skills }: GuideFacts): string[] {
  const { session } = client;
  const how = linesAbout(shown, [
    ["list_skills", "lists all skills."],
    ["read_skill", "reads a skill without opening it."],
    ["read_skill_file", "reads a file that the instructions name."],
    [
      "activate_skill",
      "opens a skill: it answers with instructions, and its tools are in the list of tools from then on.",
    ],
    ["deactivate_skill", "closes a skill that is no longer needed."],
  ]);
  const open = new Set(session.getActiveSkills());
  const lines = skills.map(
    (skill) => `- ${skill.name}${open.has(skill.name) ? " (open)" : ""}: ${plain(describeSkill(skill))}`,
  );
  return section("Skills", cut(lines, "skills", shown.has("list_skills") ? "list_skills" : undefined), [
    ...(how.length > 0 ? [how.join("\n")] : []),
  ]);
}

function renderTools({ client, shown }: GuideFacts): string[] {
  const forge: ReadonlySet<string> = new Set(forgeToolNames);
  const tools = client.session.getAvailableTools().filter(({ tool }) => !forge.has(tool.name));
  const lines = tools.map((entry) => `- ${nameOf(entry, shown)}: ${plain(entry.tool.description)}`);
  return section("Tools", cut(lines, "tools", shown.has("search_tools") ? "search_tools" : undefined));
}

/** A tool that is reached only by its name and another tool is named without backticks. */
function nameOf({ wireName }: RegisteredTool, shown: ReadonlySet<string>): string {
  return shown.has(wireName) ? `\`${wireName}\`` : wireName;
}

function cut(lines: readonly string[], noun: string, finder: string | undefined): string[] {
  if (lines.length <= mostNamed) return [...lines];
  const rest = `- and ${lines.length - mostNamed} more ${noun}${finder === undefined ? "" : `: \`${finder}\` finds them`}`;
  return [...lines.slice(0, mostNamed), rest];
}

function renderForge({ client, shown }: GuideFacts): string[] {
  const { session } = client;
  const lines = forgeToolNames.flatMap((name) => {
    const entry = session.getTool(name);
    if (entry === undefined || !session.isToolAvailable(entry.address)) return [];
    if (!shown.has(entry.wireName) && !shown.has("call_tool")) return [];
    return [`- ${nameOf(entry, shown)}: ${plain(entry.tool.description)}`];
  });
  return section("Make tools and skills", lines, [
    "A tool that you make is live as soon as its examples pass, for you and for every other client.",
  ]);
}

function renderResources({ client }: GuideFacts): string {
  const lines = [
    "- <kitbag://tools/ADDRESS>: all about one tool",
    "- <kitbag://skills/NAME>: a skill with its tools; its files are resources too",
    "- <kitbag://values/TOOL/ARGUMENT>: values for an argument of a tool",
    "- <kitbag://outputs/HANDLE>: an output that was too large to hand over, page by page",
    ...(runResources.isFor(client) ? ["- <kitbag://runs>: what agents did here"] : []),
  ];
  return `## Resources\n\n${lines.join("\n")}`;
}

/** What others wrote, on one line, without backticks and without what cannot be seen. */
function plain(text: string): string {
  return toVisibleText(firstLine(text)).replaceAll("`", "'");
}
