/** What is known about messages that are left out, the oldest first. */
export interface SummaryNotes {
  readonly wanted: readonly string[];
  readonly asked: readonly string[];
  readonly calls: readonly string[];
  readonly said: readonly string[];
}

/** What each list is called where it is written down. */
const headings: Readonly<Record<keyof SummaryNotes, string>> = {
  wanted: "Decided and wanted:",
  asked: "Asked for:",
  calls: "Calls and what came of them:",
  said: "Also said:",
};
const names = Object.keys(headings) as (keyof SummaryNotes)[];
const byHeading = new Map(names.map((name) => [headings[name], name]));

/** Writes notes down. */
export function renderNotes(notes: SummaryNotes): string {
  const lists = names.filter((name) => notes[name].length > 0);
  return lists.map((name) => [headings[name], ...notes[name].map((note) => `- ${note}`)].join("\n")).join("\n");
}

/** Reads notes again. What a model has written has no headings: its lines are what was said. */
export function parseNotes(text: string): SummaryNotes {
  const notes: Record<keyof SummaryNotes, string[]> = { wanted: [], asked: [], calls: [], said: [] };
  let name: keyof SummaryNotes = "said";
  for (const given of text.split("\n")) {
    const line = given.trim();
    const heading = byHeading.get(line);
    if (heading !== undefined) name = heading;
    else if (line !== "") notes[name].push(line.replace(/^[-*] /u, ""));
  }
  return notes;
}
