import type { Tool } from "../../core/tool.ts";
import { aboutUntrusted } from "../../core/untrusted-text.ts";
import type { Session } from "../../workspace/workspace.ts";

/** About how many tokens the list of skills may have. What does not fit is found by searching. */
const maxCatalogTokens = 2000;
/** The same where tools and skills are searched for with `search_tools`: the list only says what there is. */
const maxIndexTokens = 1000;

/**
 * The system text: what the agent is, the skills there are, the instructions of those that are open from the beginning. `howTo` says how
 * to reach what is not listed; without it everything is.
 */
export function renderSystem(session: Session, instructions: string, howTo?: string): string {
  const { text, omitted } =
    howTo === undefined
      ? session.renderCatalog({ maxTokens: maxCatalogTokens })
      : session.renderCatalog({ maxTokens: maxIndexTokens, style: "lines" });
  const more = omitted.length === 0 ? "" : `There are ${omitted.length} more skills: list_skills lists all of them.`;
  const untrusted = hasForeignTools(session) ? aboutUntrusted : "";
  return [instructions, text, more, session.activeInstructions(), howTo ?? "", untrusted]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Whether a tool is more than a function of the program: its text is labelled. */
function hasForeignTools(session: Session): boolean {
  const isForeign = ({ code }: Tool): boolean => code.kind !== "function";
  return (
    session.getAvailableTools().some(({ tool }) => isForeign(tool)) ||
    session.getSkills().some(({ skill }) => skill.tools.some(isForeign))
  );
}
