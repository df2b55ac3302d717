/** A skill as the system text lists it. */
export interface ListedSkill {
  readonly name: string;
  readonly description: string;
}

/** The list of skills in a system text, as `renderCatalog` writes it; empty if there is none. */
export function parseCatalog(system: string): ListedSkill[] {
  const skills = new Map<string, ListedSkill>();
  for (let from = system.indexOf("<available_skills>"); from !== -1;) {
    const end = system.indexOf("</available_skills>", from);
    const text = system.slice(from, end === -1 ? undefined : end);
    for (const part of text.split("<skill>").slice(1, 20_000)) {
      const name = between(part, "<name>", "</name>");
      if (name !== "") skills.set(name, { name, description: between(part, "<description>", "</description>") });
    }
    from = end === -1 ? -1 : system.indexOf("<available_skills>", end);
  }
  return [...skills.values()];
}

function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  const to = from === -1 ? -1 : text.indexOf(close, from);
  if (to === -1) return "";
  return text
    .slice(from + open.length, to)
    .trim()
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
