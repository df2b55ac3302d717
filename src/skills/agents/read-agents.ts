import type { Diagnostic } from "../../core/diagnostics.ts";
import { isName } from "../../core/names.ts";
import { parseSkillDocument } from "../document/parse-skill-document.ts";
import type { FolderSnapshot } from "../folder/read-folder.ts";

/** What a file `agents/<name>.md` of a skill says: an agent that the skill brings. */
export interface AgentFacts {
  /** The file, relative to the folder of the skill. */
  readonly file: string;
  readonly name: string;
  /** What it does and when to use it. */
  readonly description: string;
  /** What the agent is told: the text below the front matter. */
  readonly instructions: string;
  /** The tools that it names. @default it names none, and sees those of its skill */
  readonly tools?: readonly string[];
  /** As it is written: `inherit`, a name such as `sonnet`, or `provider/model`. */
  readonly model?: string;
}

/** More agents than this in one skill are not read. */
const mostAgents = 50;

const agentFile = /^agents\/([^/]+)\.md$/u;

/** What is of no interest in a file of an agent: it is no SKILL.md. */
const ofSkills: ReadonlySet<string> = new Set(["name-missing", "body-long"]);

/**
 * Reads the agents of a skill: the files `agents/*.md`, with the front matter `name`, `description`, `tools` and `model`, as plugins of
 * Claude have them. Contract: never throws; an agent that cannot be used is left out and reported.
 */
export function readAgents({ contents }: Pick<FolderSnapshot, "contents">): {
  readonly agents: readonly AgentFacts[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const agents: AgentFacts[] = [];
  const diagnostics: Diagnostic[] = [];
  const files = [...contents.keys()].filter((path) => agentFile.test(path));
  for (const file of files.slice(0, mostAgents)) {
    const read = readAgent(file, contents.get(file) as Uint8Array);
    diagnostics.push(...read.diagnostics);
    if (read.agent !== undefined) agents.push(read.agent);
  }
  if (files.length > mostAgents) {
    const message = `Left out ${files.length - mostAgents} agents: a skill has at most ${mostAgents}`;
    diagnostics.push({ severity: "warning", code: "agents-many", message, file: "agents" });
  }
  return { agents, diagnostics };
}

function readAgent(
  file: string,
  bytes: Uint8Array,
): { readonly agent?: AgentFacts; readonly diagnostics: readonly Diagnostic[] } {
  const { document, diagnostics: all } = parseSkillDocument(bytes, { file });
  // What is wrong with an agent costs the agent, and not the skill.
  const diagnostics = all
    .filter(({ code }) => !ofSkills.has(code))
    .map((one): Diagnostic => (one.severity === "error" ? { ...one, severity: "warning" } : one));
  if (document === undefined)
    return { diagnostics: [...diagnostics, leftOut(file, "it has no description and no text")] };
  const name = document.declaredName ?? agentFile.exec(file)?.[1] ?? "";
  if (!isName(name))
    return { diagnostics: [...diagnostics, leftOut(file, `${JSON.stringify(name)} cannot be a name`)] };
  const { description, body: instructions, tools, extra } = document;
  const model = extra["model"];
  const isListed = "tools" in extra;
  return {
    agent: {
      file,
      name,
      description,
      instructions: instructions.trim(),
      ...(isListed && { tools: tools.map(({ reference }) => reference) }),
      ...(typeof model === "string" && { model }),
    },
    diagnostics,
  };
}

function leftOut(file: string, reason: string): Diagnostic {
  return { severity: "warning", code: "agent-invalid", message: `Left out the agent of ${file}: ${reason}`, file };
}
