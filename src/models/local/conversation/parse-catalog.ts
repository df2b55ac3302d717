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
  for (const skill of parseLines(system)) skills.set(skill.name, skill);
  return [...skills.values()];
}

const linesStart = "Skills that can be opened with activate_skill:\n";

/** The same list with a line for each skill. */
function parseLines(system: string): ListedSkill[] {
  const start = system.indexOf(linesStart);
  const lines = start === -1 ? [] : system.slice(start + linesStart.length).split("\n", 20_000);
  const end = lines.findIndex((line) => !line.startsWith("- "));
  return (end === -1 ? lines : lines.slice(0, end)).flatMap((line) => {
    const [, name = "", description = ""] = /^- ([^\s:]{1,64}): (.*)$/u.exec(line) ?? [];
    return name === "" ? [] : [{ name, description }];
  });
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
