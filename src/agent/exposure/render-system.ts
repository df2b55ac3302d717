import type { Session } from "../../workspace/sessions/session.ts";

/** About how many tokens the list of skills may have. What does not fit is found by searching. */
const maxCatalogTokens = 2000;

/**
 * The system text: what the agent is, the skills there are, the instructions of those that are open from the beginning. `rest` is said
 * at its end.
 */
export function renderSystem(session: Session, instructions: string, rest = ""): string {
  const { text, omitted } = session.renderCatalog({ maxTokens: maxCatalogTokens });
  const more = omitted.length === 0 ? "" : `There are ${omitted.length} more skills: list_skills lists all of them.`;
  return [instructions, text, more, session.activeInstructions(), rest].filter((part) => part !== "").join("\n\n");
}
