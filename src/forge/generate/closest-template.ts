import type { JsonObject, JsonValue } from "../../core/json.ts";
import { createTextIndex } from "../../core/text-search.ts";
import { templates } from "../templates/templates.ts";

/** A template that fits a description, and what the description says about its parameters. */
export interface ClosestTemplate {
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
