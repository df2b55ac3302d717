import type { FileUse } from "../../../core/call-files.ts";

/** What the code of a script does with files that its arguments name. */
export interface FileUses {
  /** What it does with the parameter of a name, or with the positional at a place, counted from 0. */
  of(property: string, place?: number): FileUse | undefined;
}

/** `args.input`, `opts["input"]`, `options[:input]`, `$input`, `input` */
const reference = String.raw`(?:str\(|\(\s*)?["']?(?<store>(?:args|opts?|options|argv|values|flags|params?|parsed|cli|ns|arguments|config|input|data|payload|fields)(?:\.get\(|\.|\[:?|\?\.|->)["':]?)?[$@]?\{?(?<name>[A-Za-z_]\w*)["'}\])]*`;
/** `sys.argv[1]`, `process.argv[2]`, `ARGV[0]` */
const argument = String.raw`(?<list>sys\.argv|process\.argv|ARGV|\$argv|args|argv)\s*\[\s*(?<number>\d)\s*\]`;
const file = String.raw`(?:[\w.]*(?:[Pp]ath|resolve|expanduser|abspath|join|fsPath|str)\(\s*)?(?:${argument}|${reference})`;

const readers = String.raw`(?<![\w.])(?:io\.|codecs\.|gzip\.|bz2\.|tarfile\.|fitz\.|pdfplumber\.|Image\.|wave\.|pymupdf\.)?open|ZipFile|PdfReader|PdfFileReader|Presentation|load_workbook|convert_from_path|partition_\w+|read_(?:csv|excel|json|parquet|table|feather|html)|np\.load(?:txt)?|imread|VideoCapture|os\.path\.(?:exists|isfile|isdir|getsize|getmtime)|os\.(?:listdir|walk|stat|scandir)|(?:ET|etree)\.parse|readFile(?:Sync)?|createReadStream|readdir(?:Sync)?|existsSync|l?stat(?:Sync)?|accessSync|readJson(?:Sync)?|Bun\.file|readTextFile(?:Sync)?|(?:File|IO|CSV|Pathname)\.(?:read|readlines|foreach|open|binread|table|exist\?|file\?|size|new)|Dir\.(?:glob|entries|children|exist\?)|(?:YAML|JSON)\.load_file|file_get_contents|fopen|io\.(?:open|lines)|read\.csv|readLines|readRDS`;
const writers = String.raw`os\.(?:makedirs|mkdir|remove|unlink)|shutil\.rmtree|(?:\.|\b)savefig|\.save|\.to_(?:csv|excel|json|parquet|html|markdown)|imwrite|np\.save(?:z|txt)?|\.write_(?:image|html|pdf|file)|extractall|sqlite3\.connect|writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|mkdir(?:Sync)?|rmSync|unlinkSync|Bun\.write|writeTextFile(?:Sync)?|outputFile(?:Sync)?|toFile|(?:File|IO)\.(?:write|binwrite)|FileUtils\.(?:mkdir_p|rm_rf|touch)|file_put_contents|write\.csv|saveRDS`;
const copiers = String.raw`shutil\.(?:copy\w*|move)|os\.(?:rename|replace)|copyFile(?:Sync)?|rename(?:Sync)?|FileUtils\.(?:cp\w*|mv)`;

/** `open(args.file, "w")`: what comes after the file says whether it is written. */
const called = new RegExp(
  String.raw`(?<verb>${readers}|(?<writes>${writers}))\s*[( ]\s*${file}\s*\)*\s*(?<mode>,\s*(?:mode\s*=\s*|flags?:\s*)?["'](?:[wax]|r\+))?`,
  "gu",
);
const copied = new RegExp(String.raw`(?:${copiers})\(\s*[^,\n()]{1,80}(?:\([^()\n]*\))?\s*,\s*${file}`, "gu");
const methods = new RegExp(
  String.raw`(?<![\w.])${file}(?:\.parent|\.resolve\(\)|\.expanduser\(\))*\.(?:(?<reads>read_text|read_bytes|exists|is_file|is_dir|iterdir|rglob|stat)|(?<writes>write_text|write_bytes|mkdir|touch|unlink)|open)\((?<mode>\s*(?:mode\s*=\s*)?["'](?:[wax]|r\+))?`,
  "gu",
);
/** Most texts have none, and to look for it costs less than to look for {@link methods}. */
const mayCallMethod =
  /\.(?:read_(?:text|bytes)|exists|is_(?:file|dir)|iterdir|rglob|stat|write_(?:text|bytes)|mkdir|touch|unlink|open)\(/u;
const given = new RegExp(
  String.raw`(?<![\w.])(?<alias>[A-Za-z_]\w*)\s*(?::\s*[\w.]+\s*)?=\s*(?:await\s+)?${file}`,
  "gu",
);

const word = String.raw`["']?\$\{?(?<name>\w+)(?::?-[^}\n]{0,60})?\}?["']?(?=[\s;)\]|&]|$)`;
const shellReads = new RegExp(
  String.raw`(?:(?<![<])<\s*|(?:\[\[?|\btest)\s+(?:!\s+)?-[efdrs]\s+|\b(?:cat|head|tail|wc|source|less|pdftotext|unzip|pandoc|python3?|node|file|stat|md5sum|sha256sum|basename)\s+(?:-\S+\s+)*|\b(?:grep|jq|sed|awk)\s+(?:-\S+\s+)*(?:"[^"\n]*"|'[^'\n]*')\s+|\bcd\s+)${word}`,
  "gmu",
);
const shellWrites = new RegExp(
  String.raw`(?:(?<![<&=-])>{1,2}\s*|\b(?:mkdir|touch|tee|rm)\s+(?:-\S+\s+)*|\s(?:-o|--output|--output-file|-O)[ =]|\b(?:cp|mv)\s+(?:-\S+\s+)*\S+\s+)${word}`,
  "gmu",
);

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
  const aliases = new Map<string, string>();
  for (const { groups } of text.matchAll(given)) {
    const key = keyOf(groups);
    if (key !== undefined && (groups?.["store"] ?? groups?.["list"]) !== undefined)
      aliases.set(fold(groups?.["alias"] ?? ""), key);
  }
  const found = (groups: Groups, use: FileUse): void => {
    const key = keyOf(groups);
    if (key === undefined) return;
    const isQualified = (groups?.["store"] ?? groups?.["list"]) !== undefined;
    note(key, use, isQualified);
    const alias = isQualified ? undefined : aliases.get(key);
    if (alias !== undefined) note(alias, use, true);
  };
  const uses = isShell ? shellUses(text) : codeUses(text);
  for (const [groups, use] of uses) found(groups, use);
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

type Groups = Readonly<Record<string, string | undefined>> | undefined;

/** How many entries of the list come before the first argument. */
const skipped: Readonly<Record<string, number>> = { "sys.argv": 1, "process.argv": 2, $argv: 1, argv: 1 };

function keyOf(groups: Groups): string | undefined {
  const { list, number, name } = groups ?? {};
  if (list !== undefined) return `#${Number(number) - (skipped[list] ?? 0)}`;
  return name === undefined ? undefined : /^\d$/u.test(name) ? `#${Number(name) - 1}` : fold(name);
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, "");
}

function hasQualified(text: string, property: string): boolean {
  const camel = property.replaceAll(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
  return [property, camel].some((name) => text.includes(`args.${name}`) || text.includes(`opts.${name}`));
}

function* codeUses(text: string): Generator<readonly [Groups, FileUse]> {
  for (const { groups } of text.matchAll(called))
    yield [groups, groups?.["writes"] !== undefined || groups?.["mode"] !== undefined ? "write" : "read"];
  for (const { groups } of text.matchAll(copied)) yield [groups, "write"];
  if (!mayCallMethod.test(text)) return;
  for (const { groups } of text.matchAll(methods))
    yield [groups, groups?.["writes"] !== undefined || groups?.["mode"] !== undefined ? "write" : "read"];
}

/** In a function, `$1` is the function's own argument. */
function* shellUses(text: string): Generator<readonly [Groups, FileUse]> {
  const hasFunctions = /^[ \t]*(?:function\s+)?[\w-]+\s*\(\)/mu.test(text);
  const isOwn = (groups: Groups): boolean => !hasFunctions || !/^\d$/u.test(groups?.["name"] ?? "");
  for (const { groups } of text.matchAll(shellReads)) if (isOwn(groups)) yield [groups, "read"];
  for (const { groups } of text.matchAll(shellWrites)) if (isOwn(groups)) yield [groups, "write"];
}
