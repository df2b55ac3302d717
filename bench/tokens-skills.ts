import { defineSkill, defineTool, type Skill, type Tool } from "kitbag";

/** What a service of the bench is about: its name, what it keeps, who uses it. */
const fields = [
  ["invoices", "invoice", "accountants"],
  ["calendar", "appointment", "assistants"],
  ["tickets", "ticket", "support agents"],
  ["orders", "order", "shop owners"],
  ["contracts", "contract", "lawyers"],
  ["patients", "record", "practices"],
  ["shipments", "parcel", "warehouses"],
  ["campaigns", "campaign", "marketers"],
  ["candidates", "application", "recruiters"],
  ["recipes", "recipe", "cooks"],
  ["bookings", "booking", "hotels"],
  ["meters", "reading", "utilities"],
  ["courses", "lesson", "teachers"],
  ["vehicles", "vehicle", "fleet managers"],
  ["grants", "proposal", "researchers"],
  ["articles", "article", "editors"],
  ["photos", "picture", "photographers"],
  ["donations", "donation", "charities"],
  ["machines", "machine", "technicians"],
  ["budgets", "budget", "controllers"],
] as const;

const regions = ["north", "south", "east", "west", "central"] as const;

const operations = [
  ["list", "Lists", "that match a filter, newest first, one page at a time"],
  ["get", "Reads", "with all its fields, its history and the people who are involved"],
  ["create", "Creates", "and answers with its number; fails if one with the same reference exists"],
  ["update", "Changes", "fields that are given and leaves the others as they are"],
  ["archive", "Archives", "so that it is kept but no longer shown in lists and reports"],
  ["search", "Searches every", "for words in its title, its notes and its attachments"],
  ["export", "Exports", "as a file that other programs read, with the columns that are asked for"],
  ["assign", "Assigns", "to a person or a team, and tells them about it by mail"],
  ["comment", "Adds a comment to", "which everybody who can see it can read"],
  ["report", "Computes a report about every", "of a period, with totals for each status and each owner"],
] as const;

/** A hundred skills with ten tools each, as skills of services are: a sentence or two of description, a page of instructions. */
export function listSkills(): readonly Skill[] {
  return fields.flatMap(([name, thing, users]) =>
    regions.map((region) =>
      defineSkill({
        name: `${name}-${region}`,
        description: `Works with the ${name} of the ${region} region: finds, reads, changes and reports every ${thing}. Use it when ${users} ask about ${name}, or mention a ${thing} of this region.`,
        workDirection: renderInstructions(name, thing, region),
        tools: listTools(name, thing, region),
      }),
    ),
  );
}

/** The same thousand tools without skills, as somebody has them who lists everything. */
export function listAllTools(): readonly Tool[] {
  return fields.flatMap(([name, thing]) =>
    regions.flatMap((region) => listTools(name, thing, region, `${name}-${region}-`)),
  );
}

function listTools(name: string, thing: string, region: string, prefix = ""): readonly Tool[] {
  return operations.map(([operation, verb, rest]) =>
    defineTool({
      name: `${prefix}${operation}`,
      description: `${verb} ${thing} of the ${region} region ${rest}.`,
      input: {
        type: "object",
        properties: {
          reference: { type: "string", description: `Number or reference of the ${thing}, such as 2026-0417` },
          status: {
            type: "string",
            enum: ["open", "waiting", "closed"],
            description: `What to ${operation}: only a ${thing} in this state`,
          },
          since: { type: "string", format: "date", description: `First day to ${operation}, as YYYY-MM-DD` },
          limit: { type: "integer", minimum: 1, maximum: 100, description: "The most to answer with" },
        },
        required: ["reference"],
      },
      run: ({ reference }) => ({
        reference,
        status: "open",
        owner: "Team A",
        total: 1280.5,
        changed: "2026-04-17",
        notes: `The ${thing} waits for an answer of the customer since Monday; nothing else is missing.`,
      }),
    }),
  );
}

function renderInstructions(name: string, thing: string, region: string): string {
  return [
    `# ${name} of the ${region} region`,
    `Find the ${thing} first, with its reference if there is one and by searching if not. Read it before you change it.`,
    `Never change a closed ${thing}: comment on it, and say so. Amounts are in euros, days are as YYYY-MM-DD.`,
    `Say at the end what you changed, with the reference of each ${thing}. If something is missing, ask for it.`,
  ].join("\n\n");
}
