import type { FileParameters, FileUse } from "../../../core/call-files.ts";
import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ArgvMapping, PropertyPart } from "../argv-mapping.ts";
import { findFileUses, type FileUses } from "./file-uses.ts";

/** What the declaration of a parameter says: it is read, it is written, it is a path and no more is known, or it is no path. */
export type DeclaredPath = FileUse | "path" | "none";

/** A command of a script, and the script's text. */
export interface FileSources {
  readonly inputSchema: JsonSchema;
  readonly mapping: ArgvMapping;
  readonly text: string;
  /** By the names of the parameters. */
  readonly declared?: Readonly<Record<string, DeclaredPath>>;
}

/**
 * Finds the parameters that name files or folders, from their declarations, their names and descriptions, and what the code does with
 * them. A model may name files in these parameters only, so a parameter that is not clearly a path is left out.
 */
export function findFileParameters({ inputSchema, mapping, text, declared = {} }: FileSources): FileParameters {
  const properties = isSchemaObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  let uses: FileUses | undefined;
  const found: [name: string, use: FileUse][] = [];
  let place = -1;
  for (const part of mapping.parts) {
    if (part.kind === "positional") place += 1;
    if (part.kind !== "flag" && part.kind !== "positional" && part.kind !== "field") continue;
    const schema = textSchema(ownValue(properties, part.property));
    if (schema === undefined) continue;
    uses ??= findFileUses(text);
    const seen = uses.of(part.property, part.kind === "positional" ? place : undefined);
    const use = useOf({ part, schema, text, declared: ownValue(declared, part.property), seen });
    if (use !== undefined) found.push([part.property, use]);
  }
  return Object.fromEntries(found);
}

function ownValue<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** The schema of the texts that a parameter takes: its own, or that of its items. Nothing for numbers, choices and addresses. */
function textSchema(schema: unknown): JsonSchema | undefined {
  if (!isSchemaObject(schema)) return undefined;
  const [first] = Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as readonly unknown[]) : [];
  const inner = schema["type"] === "array" ? schema["items"] : (first ?? schema);
  if (!isSchemaObject(inner) || inner["enum"] !== undefined || inner["format"] !== undefined) return undefined;
  const isText = inner["type"] === "string" || inner["type"] === undefined;
  return isText ? { description: schema["description"], default: schema["default"] } : undefined;
}

interface Evidence {
  readonly part: PropertyPart;
  readonly schema: JsonSchema;
  /** Of the script. */
  readonly text: string;
  readonly declared: DeclaredPath | undefined;
  readonly seen: ReturnType<FileUses["of"]>;
}

function useOf({ part, schema, text, declared, seen: inCode }: Evidence): FileUse | undefined {
  if (declared === "none") return undefined;
  const help = typeof schema["description"] === "string" ? schema["description"] : "";
  const words = wordsOf(part);
  const seen = isOther(words) ? undefined : inCode;
  if (declared === "write" || seen === "write") return "write";
  if (declared === "read") return "read";
  if (declared === undefined && seen === undefined && !isPathByText({ words, help, schema })) return undefined;
  if (seen === "read") return isOutput(words) ? "write" : "read";
  return help === "" && makesFolder(words, text) ? "write" : directionOf(words, help);
}

/** The words of the name: `outputFile` and `--output-file` are `output`, `file`. */
function wordsOf(part: PropertyPart): readonly string[] {
  return part.property
    .replaceAll(/([a-z\d])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/u)
    .filter((word) => word !== "");
}

/** What stands last in the name of a path. */
const pathNoun =
  /^(?:file|files|filename|filenames|filepath|filepaths|path|paths|dir|dirs|directory|directories|folder|folders|infile|outfile|infiles|outfiles|outdir|indir|outpath|logfile|dockerfile|makefile|pathname|basedir|workdir|pdf|pdfs|docx|xlsx|pptx|csv|tsv|jsonl|ipynb|parquet|epub)$/u;
/** Names that are paths where nothing says that they are something else. */
const usualPath =
  /^(?:input|inputs|in|output|outputs|out|o|src|dest|destination|config|image|images|report|save|save_to)$/u;
const usualStart = /^(?:input|output|out|save|dest|report)$/u;
/** Names that may be paths where the description says so. */
const possiblePath =
  /^(?:source|sources|target|targets|data|dataset|template|document|documents|doc|root|project|workspace|repo|repository|video|audio|photo|picture|logo|font|json|html|xml|yaml|md|markdown|svg|log|logs|script|notebook|spreadsheet|presentation|schema|manifest|spec|theme|db|database|archive|zip|cache|export|results?|reference|base|baseline|left|right|old|new|args|items|env|arg|file_?\d|f)$/u;
/** Words before "path" or "file" that make it a name in something else. */
const otherWord =
  /^(?:url|uri|x|node|python|json|xml|css|api|http|key|object|remote|import|module|class|dotted|route|endpoint|s3|bucket|gcs|blob|drive|registry|property|field|jq|icon|svg)$/u;

function isOther(words: readonly string[]): boolean {
  const last = words.at(-1) ?? "";
  if (
    /^(?:url|urls|uri|format|type|id|ids|name|key|count|limit|size|pattern|regex|ext|extension|text|prompt|title)$/u.test(
      last,
    )
  )
    return true;
  return /^paths?$/u.test(last) && otherWord.test(words.at(-2) ?? "");
}

function isPathByText({
  words,
  help,
  schema,
}: {
  words: readonly string[];
  help: string;
  schema: JsonSchema;
}): boolean {
  if (isOther(words) || saysOther(help)) return false;
  const last = words.at(-1) ?? "";
  if (pathNoun.test(last)) return !/^(?:remote|s3|bucket|object)$/u.test(words.at(-2) ?? "");
  if (saysFile.test(help)) return true;
  const mayBe = mentionsFile.test(help) || looksLikePath(schema["default"]);
  return isUsual(words) ? help === "" || mayBe : mayBe && possiblePath.test(last);
}

function isUsual(words: readonly string[]): boolean {
  const [first = ""] = words;
  return [words.join("_"), words.at(-1) ?? ""].some((name) => usualPath.test(name)) || usualStart.test(first);
}

/** Matches descriptions of parameters that are named like a path but do not name a file. */
function saysOther(help: string): boolean {
  return (
    /^(?:the |an? )?(?:[\w-]+ ){0,2}(?:format|type|mode|language|prefix|suffix|extension|pattern|regex|url|uri|id|column|table|branch|level)s?\b(?! (?:file|path|or (?:a )?(?:local )?(?:file|path)))/iu.test(
      help,
    ) || /\b(?:url|api|request|json|key|dotted|route|endpoint|object|import) paths?\b/iu.test(help)
  );
}

const kinds = String.raw`(?:pdf|csv|tsv|json|jsonl|xlsx?|docx?|pptx?|png|jpe?g|svg|image|video|audio|text|markdown|yaml|toml|xml|html|log|config(?:uration)?|input|output|source|target|template|project|skill|data|destination|root|zip|font|report|script)`;
const saysFile = new RegExp(
  String.raw`\bpaths? (?:to|of|for)\b|\bfile ?paths?\b|\b${kinds} (?:file|files|directory|directories|folder|folders|path|paths)\b(?! (?:name|format|type|extension|size))|^(?:the )?(?:file|directory|folder)s? (?:to|with|that|of|containing|where|for|in)\b|^(?:input|output|source) ${kinds}s?\b|^(?:[\w/.-]+ ){0,3}files?(?:$|[,.;:]| \(| (?:to|with|of|for|contain\w*)\b)`,
  "iu",
);
const mentionsFile =
  /\b(?:file|files|filename|path|paths|directory|directories|folder|folders|pdf|csv|xlsx|docx|pptx|png|jpe?g|spreadsheet|workbook|stdout|stdin)\b|\.(?:json|csv|txt|md|ya?ml|xml|html?|log|svg|mp[34]|wav|zip)\b/iu;

function looksLikePath(value: unknown): boolean {
  return typeof value === "string" && (/^(?:\.{1,2}$|(?:~|\.{1,2})?\/)/u.test(value) || fileEnding.test(value));
}

const outputWord =
  /^(?:out|output|outputs|o|outfile|outfiles|outdir|outpath|dest|destination|save|saved|to|artifacts|generated|write)$/u;
/** Words that stand for an output where the description does not say that it is read. */
const likelyOutput = /^(?:target|export|result|results|report|cache|tmp|temp)$/u;
const inputWord = /^(?:in|input|inputs|infile|infiles|indir|from|read|load)$/u;
const sourceWord = /^(?:src|source|config|image|images)$/u;

function isOutput(words: readonly string[]): boolean {
  return words.some((word) => outputWord.test(word)) && !words.some((word) => inputWord.test(word));
}

/** A script that makes a folder from a template, and has one parameter for where. */
function makesFolder(words: readonly string[], text: string): boolean {
  const isPlace = /^(?:path|dir|directory|folder)$/u.test(words.at(-1) ?? "") && words.length < 3;
  return isPlace && /mkdir/u.test(text) && /\b(?:def|function)\s+_?(?:init|create|scaffold|generate|make)/u.test(text);
}

const isWritten =
  /\b(?:outputs?|write|written|writes|writing|save|saved|saves|store|stored|export|generated?|created?|destination)\b/iu;
const isRead =
  /^(?:the )?(?:input|source|existing)\b|\b(?:read|load|analy[sz]e|check|parse|process|convert|scan|validate|summari[sz]e|inspect|import|evaluate|from)\b/iu;

function directionOf(words: readonly string[], help: string): FileUse {
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word));
  if (isOutput(words)) return "write";
  if (has(inputWord) || has(sourceWord)) return "read";
  if (has(likelyOutput)) return help === "" || isWritten.test(help) ? "write" : "read";
  return isWritten.test(help) && !isRead.test(help) ? "write" : "read";
}

const pathLabel =
  /(?:^|[^A-Za-z])(?:files?|paths?|dirs?|directory|directories|folders?|filenames?|filepaths?)\d?\]?$|^(?:in|out)(?:file|dir)$/iu;
const fileEnding =
  /\w\.(?:pdf|csv|tsv|jsonl?|xlsx?|docx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|wav|mov|md|txt|ya?ml|toml|xml|html?|zip|log|ini|sqlite|db|parquet|ipynb|epub|py|js|ts|sh)$/iu;

/** Whether a placeholder is that of a path: `FILE`, `output-dir`, `<file.pdf>`. */
export function pathByLabel(label = ""): "path" | undefined {
  if (/^https?:|\burl\b/iu.test(label)) return undefined;
  return pathLabel.test(label) || fileEnding.test(label) ? "path" : undefined;
}
