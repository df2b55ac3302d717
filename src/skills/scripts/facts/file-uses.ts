import type { FileUse } from "../../../core/call-files.ts";
import { findHolders, fold, isOfArguments, keyOf, type Alias, type Groups } from "./path-holders.ts";
import { shellAliases, shellUses } from "./shell-file-uses.ts";

/** What the code of a script does with files that its arguments name. */
export interface FileUses {
  /** What it does with the parameter of a name, or with the positional at a place, counted from 0. */
  of(property: string, place?: number): FileUse | undefined;
}

/** `args.input`, `opts["input"]`, `options[:input]`, `$input`, `input`, `${input}/x` in a text */
const reference = String.raw`(?:str\(|\(\s*)?(?:[fr]?["'\x60])?(?<store>(?:args|opts?|options|argv|values|flags|params?|parsed|cli|ns|arguments|config|input|data|payload|fields)(?:\.get\(|\.|\[:?|\?\.|->)["':]?)?[$@#]?\{?(?<name>[A-Za-z_]\w*)["'}\])]*`;
/** `sys.argv[1]`, `process.argv[2]`, `ARGV[0]`; `arg[1]` of Lua */
const argument = String.raw`(?<list>sys\.argv|process\.argv|ARGV|\$argv|args|argv|arg)\s*\[\s*(?<number>\d)\s*\]`;
const file = String.raw`(?:[\w.]*(?:[Pp]ath|resolve|expanduser|abspath|join|fsPath|str)\(\s*)?(?:${argument}|${reference})`;

const readers = String.raw`(?<![\w.])(?:io\.|codecs\.|gzip\.|bz2\.|tarfile\.|fitz\.|pdfplumber\.|Image\.|wave\.|pymupdf\.)?open|ZipFile|PdfReader|PdfFileReader|Presentation|load_workbook|convert_from_path|partition_\w+|read_(?:csv|excel|json|parquet|table|feather|html)|np\.load(?:txt)?|imread|VideoCapture|os\.path\.(?:exists|isfile|isdir|getsize|getmtime)|os\.(?:listdir|walk|stat|scandir)|(?:ET|etree)\.parse|readFile(?:Sync)?|createReadStream|readdir(?:Sync)?|existsSync|l?stat(?:Sync)?|accessSync|readJson(?:Sync)?|Bun\.file|readTextFile(?:Sync)?|(?:File|IO|CSV|Pathname)\.(?:read|readlines|foreach|open|binread|table|exist\?|file\?|size|new)|Dir\.(?:glob|entries|children|exist\?)|(?:YAML|JSON)\.load_file|file_get_contents|fopen|io\.(?:open|lines)|read\.csv|readLines|readRDS`;
const writers = String.raw`os\.(?:makedirs|mkdir|remove|unlink)|shutil\.rmtree|(?:\.|\b)savefig|\.save|\.to_(?:csv|excel|json|parquet|html|markdown)|imwrite|np\.save(?:z|txt)?|\.write_(?:image|html|pdf|file)|extractall|sqlite3\.connect|writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|mkdir(?:Sync)?|rmSync|unlinkSync|Bun\.write|writeTextFile(?:Sync)?|outputFile(?:Sync)?|toFile|(?:File|IO)\.(?:write|binwrite)|FileUtils\.(?:mkdir_p|rm_rf|rm|touch)|os\.rmdir|file_put_contents|write\.csv|saveRDS`;
const copiers = String.raw`shutil\.(?:copy\w*|move)|os\.(?:rename|replace)|copyFile(?:Sync)?|rename(?:Sync)?|FileUtils\.(?:cp\w*|mv)`;

/** `open(args.file, "w")`: what comes after the file says whether it is written. */
const mode = String.raw`(?:mode\s*=\s*|flags?:\s*)?["'](?:[wax][bt+]{0,2}|r[bt]?\+[bt]?)["']`;
const called = new RegExp(
  String.raw`(?<verb>${readers}|(?<writes>${writers}))\s*[( ]\s*${file}(?:(?:,[^\n()]{1,80}?\)|\s*/\s*[^,\n()]{1,80}?)?\s*\)*\s*(?<mode>,\s*${mode}))?`,
  "gu",
);
const copied = new RegExp(String.raw`(?:${copiers})\(\s*[^,\n()]{1,80}(?:\([^()\n]*\))?\s*,\s*${file}`, "gu");
/** What is moved is gone from where it was. */
const moved = new RegExp(
  String.raw`(?:shutil\.move|os\.(?:rename|replace)|(?<![\w])rename(?:Sync)?|FileUtils\.mv)\(\s*${file}`,
  "gu",
);
/** Perl: `open my $out, ">", $file`. */
const openedAs = new RegExp(
  String.raw`\bopen\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*["'](?:<|(?<writes>\+?[<>]{1,2}))[^"'\n]{0,30}["']\s*,\s*${file}`,
  "gu",
);
const methods = new RegExp(
  String.raw`(?<![\w.])${file}(?:\s*/\s*[^\n()]{1,80}\))?(?:\.parent|\.resolve\(\)|\.expanduser\(\)|(?<beside>\.with_\w+\([^()\n]{0,80}\)))*\.(?:(?<reads>read_text|read_bytes|exists|is_file|is_dir|iterdir|rglob|stat)|(?<writes>write_text|write_bytes|mkdir|touch|unlink|rename|rmdir|symlink_to)|open)\((?<mode>\s*${mode})?`,
  "gu",
);
/** Most texts have none, and to look for it costs less than to look for {@link methods}. */
const mayCallMethod =
  /\.(?:read_(?:text|bytes)|exists|is_(?:file|dir)|iterdir|rglob|stat|write_(?:text|bytes)|mkdir|touch|unlink|rename|rmdir|symlink_to|open)\(/u;
/** `path = args.file`, `target = folder / "x"`; what is read of a file is another thing. */
const given = new RegExp(
  String.raw`(?<![\w.])(?<alias>[A-Za-z_]\w*)\s*(?::\s*[\w.]+\s*)?=\s*(?:await\s+)?${file}(?<beside>\.with_\w+\()?(?!\.(?!resolve|expanduser|absolute|joinpath|strip|trim)|\w|[ \t]*\()`,
  "gu",
);
const lister = String.raw`(?:(?:sorted|list|reversed|glob\.i?glob|globSync|os\.(?:scandir|listdir|walk)|(?:[\w.]*\.)?readdir(?:Sync)?|Dir\.(?:glob|children|each_child|entries)|Dir)[(\[]\s*){0,3}`;
/** `for path in folder.glob("*")`, `for (const name of readdirSync(dir))`, `for root, _, names in os.walk(folder)` */
const looped = new RegExp(
  String.raw`\bfor\s*\(?\s*(?:const|let|var)?\s*(?<alias>[A-Za-z_]\w*)(?:\s*,\s*\w+){0,2}\s+(?:in|of)\s+(?:await\s+)?${lister}${file}`,
  "gu",
);
/** Perl: `for my $file (@ARGV)`. */
const loopedAll = /\bfor(?:each)?\s+my\s+\$(?<alias>\w+)\s*\(\s*(?:sort\s+)?(?<list>@ARGV)/gu;
/** `Dir.glob(File.join(dir, "*")).each do |path|` */
const globbed = new RegExp(
  String.raw`\bDir(?:\.\w+)?\s*[([]\s*(?:File\.join\(\s*)?${file}[^\n|]{0,100}\|\s*(?<alias>\w+)\s*\|`,
  "gu",
);
/** `folder.children.each { |path| … }` */
const each = new RegExp(
  String.raw`(?<![\w.])${file}\.(?:children|each_child|glob|entries)\b[^\n|]{0,100}\|\s*(?<alias>\w+)\s*\|`,
  "gu",
);

/** Most texts have none of these. */
const mayLoop = /\.(?:children|each_child|glob|entries)\b[^\n|]{0,100}\|/u;

interface Seen {
  use: FileUse | undefined;
  /** It was named as a value of the parsed arguments. */
  qualified: boolean;
}

/** What parses the arguments, and before it the author's name for them: `a = parser.parse_args()`, `const { values: cli } = parseArgs(…)`. */
const parsing = /(?:parse_args|parse_known_args|parseArgs|\.opts)\(/gu;
const stored = /(?<![\w.])(?:\{\s*values:\s*)?([A-Za-z_]\w{0,40})\s*(?:,\s*\w+\s*|\}\s*)?=\s*[\w.]*$/u;
const longestStored = 200;

const mostStores = 8;

/** Gives the parsed arguments the name that the patterns know. */
function withKnownStore(text: string): string {
  const names = new Set(
    Array.from(text.matchAll(parsing), ({ index }) => {
      return stored.exec(text.slice(Math.max(0, index - longestStored), index))?.[1] ?? "";
    }).filter((name) => name !== ""),
  );
  if (names.size === 0) return text;
  const known = [...names].slice(0, mostStores).join("|");
  return text.replaceAll(new RegExp(String.raw`(?<![\w.])(?:${known})(?=\??\.\w)`, "gu"), "args");
}

/** The commands of a script are looked at one after the other. */
let latest: { readonly source: string; readonly uses: FileUses } | undefined;

/** Looks through the text of a script for what it does with its arguments. The text is searched, not parsed. */
export function findFileUses(source: string): FileUses {
  if (latest?.source !== source) latest = { source, uses: searchFileUses(source) };
  return latest.uses;
}

function searchFileUses(source: string): FileUses {
  const text = withKnownStore(source);
  const isShell = /^#!.*\b(?:ba|z|da|k)?sh\b/u.test(text) || /\$\{?[1-9@]\b/u.test(text);
  const seen = new Map<string, Seen>();
  const note = (key: string, use: FileUse, qualified: boolean): void => {
    const before = seen.get(key);
    seen.set(key, { use: before?.use === "write" ? "write" : use, qualified: qualified || before?.qualified === true });
  };
  const holders = findHolders(isShell ? shellAliases(text) : codeAliases(text));
  for (const [groups, use] of isShell ? shellUses(text) : codeUses(text)) {
    const key = keyOf(groups);
    if (key === undefined) continue;
    const isQualified = isOfArguments(groups);
    const holder = isQualified ? undefined : holders.get(key);
    // What is made beside a file does not change it; what is made beside something in a folder changes the folder.
    if (groups?.["beside"] !== undefined && holder?.isInside !== true) continue;
    note(key, use, isQualified);
    if (holder !== undefined) note(holder.key, use, true);
  }
  return {
    of: (property, place) => {
      const byPlace = place === undefined ? undefined : seen.get(`#${place}`)?.use;
      const own = seen.get(fold(property));
      // Where the script has `args.name`, its other `name` is another thing.
      const isOwn = own !== undefined && (own.qualified || !hasQualified(text, property));
      const byName = isOwn ? own.use : undefined;
      return byPlace === "write" || byName === "write" ? "write" : (byPlace ?? byName);
    },
  };
}

function codeAliases(text: string): readonly Alias[] {
  const inside = [looped, globbed, loopedAll, ...(mayLoop.test(text) ? [each] : [])];
  return [given, ...inside].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ groups }) => ({ groups, isInside: pattern !== given })),
  );
}

function hasQualified(text: string, property: string): boolean {
  const camel = property.replaceAll(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
  return [property, camel].some((name) => text.includes(`args.${name}`) || text.includes(`opts.${name}`));
}

/** Each pattern, and what it means; without that, the groups say it. */
const patterns: readonly (readonly [pattern: RegExp, use?: FileUse])[] = [
  [called],
  [copied, "write"],
  [moved, "write"],
  [openedAs],
  [methods],
];

function* codeUses(text: string): Generator<readonly [Groups, FileUse]> {
  for (const [pattern, use] of patterns) {
    if (pattern === methods && !mayCallMethod.test(text)) continue;
    for (const { groups } of text.matchAll(pattern)) yield [groups, use ?? (isWriting(groups) ? "write" : "read")];
  }
}

function isWriting(groups: Groups): boolean {
  return groups?.["writes"] !== undefined || groups?.["mode"] !== undefined;
}
