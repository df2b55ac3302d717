import type { Diagnostic } from "../../core/diagnostics.ts";
import { quote } from "../../core/errors.ts";
import { classifyByName, detectLanguage } from "./detect-language.ts";
import type { Instructions } from "./examples/add-examples.ts";
import { type DeclaredPackages, isPackageFile, readDeclaredPackages } from "./facts/declared-packages.ts";
import { manifestPath, type ParsedManifest, parseManifest } from "./manifest/parse-manifest.ts";
import type { Reading, SourceScript } from "./reading.ts";
import { findNamedScripts, type MissingScript } from "./named-scripts.ts";
import type { ScriptFile } from "./script-interface.ts";

/** A script that is to be read. */
export interface Candidate {
  readonly source: SourceScript;
  readonly interpreter: readonly string[];
  readonly isCut: boolean;
  /** What its name or its place already says. */
  readonly verdict?: Pick<Reading, "kind" | "reason">;
}

/** The files of a skill, sorted out. */
export interface PreparedScripts {
  readonly candidates: readonly Candidate[];
  /** The text of the Python files that scripts may import, by path. */
  readonly modules: ReadonlyMap<string, string>;
  readonly manifest: ParsedManifest;
  readonly declared: DeclaredPackages;
  /** The names of the skill's own files and folders, without endings. */
  readonly local: ReadonlySet<string>;
  /** The texts of the skill that its instructions name. */
  readonly linked: readonly string[];
  readonly diagnostics: Diagnostic[];
}

const largestPackageFile = 64 * 1024;

/**
 * Sorts the files of a skill: which are scripts, in which language, and what else says something about them. Scripts are the files in
 * `scripts/`, and those elsewhere that `instructions` tell the model to run or that the manifest lists.
 */
export function prepareScripts(files: readonly ScriptFile[], instructions?: Instructions): PreparedScripts {
  const diagnostics: Diagnostic[] = [];
  const paths = files.map(({ path }) => path);
  const { found: told, missing } = findNamedScripts(instructions?.text ?? "", paths);
  const linked = findLinkedTexts(files, instructions?.text ?? "");
  for (const text of linked) for (const path of findNamedScripts(text, paths).found) told.add(path);
  diagnostics.push(...missing.map((one) => missingScript(one, instructions)));
  // Most skills have none, and then the rest is not needed.
  if (told.size === 0 && !files.some(({ path }) => isInScripts(path))) return { ...withoutScripts, diagnostics };
  const unique = [...new Map(files.map((file) => [file.path, file])).values()];
  const sorted = unique.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  const manifest = readManifest(sorted, paths);
  const listed = new Set(manifest.tools.map(({ path }) => path));
  const roots = new Set([...told, ...listed].map(toRoot));
  const near = sorted.filter(({ path }) => isInScripts(path) || !path.includes("/") || roots.has(toRoot(path)));
  const packages = sorted.filter(({ path, content }) => isPackageFile(path) && content.length <= largestPackageFile);
  return {
    candidates: near.flatMap((file) => toCandidates(file, { told, listed }, diagnostics)),
    modules: readModules(near),
    manifest,
    declared: readDeclaredPackages(packages.map(({ path, content }) => ({ path, text: decodeScript(content).text }))),
    local: localNames(sorted),
    linked,
    diagnostics,
  };
}

const withoutScripts: Omit<PreparedScripts, "diagnostics"> = {
  candidates: [],
  modules: new Map(),
  manifest: { tools: [], diagnostics: [] },
  declared: readDeclaredPackages([]),
  local: new Set(),
  linked: [],
};

function isInScripts(path: string): boolean {
  return path.startsWith("scripts/");
}

const mostLinked = 20;
const largestLinked = 256 * 1024;

/**
 * The texts of the skill that its instructions name: what they tell the model to run is told by the instructions. Many authors write
 * `FORMS.md` for a file that is called `forms.md`.
 */
function findLinkedTexts(files: readonly ScriptFile[], instructions: string): readonly string[] {
  const named = instructions.toLowerCase();
  if (!named.includes(".md")) return [];
  return files
    .filter(({ path, content }) => /\.md$/iu.test(path) && content.length <= largestLinked)
    .filter(({ path }) => named.includes(path.toLowerCase()))
    .filter(({ path }) => !/^skill\.md$/iu.test(path))
    .slice(0, mostLinked)
    .map(({ content }) => decodeScript(content).text);
}

/** The folder of the skill's folder that a file is in. */
function toRoot(path: string): string {
  return path.slice(0, path.indexOf("/") + 1);
}

/** The Python files that a script may import. */
function readModules(files: readonly ScriptFile[]): ReadonlyMap<string, string> {
  const modules = files.filter(({ path, content }) => path.endsWith(".py") && content.length <= largestScript);
  return new Map(modules.map(({ path, content }) => [path, decodeScript(content).text]));
}

function missingScript(
  { path, line }: MissingScript,
  { file = "SKILL.md", line: first = 1 }: Partial<Instructions> = {},
): Diagnostic {
  const message = `Tells the model to run ${quote(path)}, which is not in the skill's folder`;
  const cure = "put the file there, or take the command out of the text";
  return { severity: "error", code: "script-missing", message, file, line: line + first - 1, cure };
}

function readManifest(files: readonly ScriptFile[], paths: readonly string[]): ParsedManifest {
  const file = files.find(({ path }) => path === manifestPath || path === "scripts/manifest.yaml");
  if (file === undefined) return { tools: [], diagnostics: [] };
  return parseManifest(decodeScript(file.content).text, paths, file.path);
}

function localNames(files: readonly ScriptFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ path }) => path.split("/").map((step) => step.replace(/\.\w+$/u, ""))));
}

/** The files that are tools although they are not in `scripts/` itself. */
interface Chosen {
  /** The instructions tell the model to run them. */
  readonly told: ReadonlySet<string>;
  /** The manifest lists them. */
  readonly listed: ReadonlySet<string>;
}

function toCandidates(file: ScriptFile, { told, listed }: Chosen, diagnostics: Diagnostic[]): readonly Candidate[] {
  const { path } = file;
  const fileName = path.split("/").at(-1) ?? "";
  const isNamed = listed.has(path);
  if (!isInScripts(path) && !isNamed && !told.has(path)) return [];
  if (fileName.startsWith(".") && !isNamed) return [];
  const decoded = decodeScript(file.content);
  const detected = detectLanguage(fileName, decoded.text);
  if (detected === undefined && !isNamed) return [];
  if (decoded.isBinary) {
    const verdict = { kind: "unsupported", reason: "it is not text" } as const;
    diagnostics.push(
      warning(
        "script-not-text",
        path,
        "it has NUL bytes, so it is not a script",
        "Save it as UTF-8 text, or remove it",
      ),
    );
    return [{ source: { path, fileName, text: "", language: "other" }, interpreter: [], isCut: false, verdict }];
  }
  reportBytes(path, decoded, diagnostics);
  const known =
    detected === undefined || detected === "unsupported" ? { language: "other" as const, interpreter: [] } : detected;
  const source = { path, fileName, text: decoded.text, language: known.language };
  const place = { path, fileName, isTold: told.has(path) };
  const verdict = isNamed ? undefined : toVerdict(place, detected === "unsupported");
  return [{ source, interpreter: known.interpreter, isCut: decoded.isCut, ...(verdict !== undefined && { verdict }) }];
}

interface ScriptPlace {
  readonly path: string;
  readonly fileName: string;
  readonly isTold: boolean;
}

function toVerdict({ path, fileName, isTold }: ScriptPlace, isUnsupported: boolean): Candidate["verdict"] {
  if (isUnsupported) {
    return {
      kind: "unsupported",
      reason: "no interpreter is known for it; name one in scripts/manifest.yml, or in a first line with #!",
    };
  }
  if (!isTold && path.split("/").length > 2) {
    const reason = "it is in a folder below scripts/, and SKILL.md does not tell the model to run it";
    return { kind: "library", reason };
  }
  return classifyByName(fileName);
}

function reportBytes(path: string, { isCut, isDamaged }: DecodedScript, diagnostics: Diagnostic[]): void {
  if (isCut) {
    const reason = `it is larger than ${largestScript} bytes, so only its beginning was read`;
    diagnostics.push(warning("script-too-large", path, reason, "Describe it in scripts/manifest.yml"));
  }
  if (isDamaged)
    diagnostics.push(warning("encoding-invalid", path, "some of its bytes are not UTF-8", "Save it as UTF-8"));
}

function warning(code: string, file: string, reason: string, cure: string): Diagnostic {
  return { severity: "warning", code, message: `Cannot read all of ${quote(file)}: ${reason}`, file, cure };
}

/** A file's text, and what was wrong with its bytes. */
export interface DecodedScript {
  readonly text: string;
  /** Only the beginning was read. */
  readonly isCut: boolean;
  /** Some bytes are not UTF-8; they are shown as "�". */
  readonly isDamaged: boolean;
  /** It has NUL bytes: no script has those. */
  readonly isBinary: boolean;
}

/** Larger files are not read as a whole: they are bundles or data, and only their head says something. */
export const largestScript = 1024 * 1024;

const headBytes = 64 * 1024;

/** Turns the bytes of a script into text with plain line ends. Never throws. */
export function decodeScript(content: Uint8Array | string): DecodedScript {
  const isCut = content.length > largestScript;
  if (typeof content === "string")
    return fromText(isCut ? content.slice(0, headBytes) : content, { isCut, isDamaged: false });
  const bytes = isCut ? content.subarray(0, headBytes) : content;
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return fromText(new TextDecoder("utf-16le").decode(bytes), { isCut, isDamaged: false });
  const text = new TextDecoder("utf-8").decode(bytes);
  // A cut may go through a character; that is our doing, not the file's.
  const isDamaged = text.includes("\uFFFD") && !isCut && !includesReplacement(bytes);
  return fromText(text, { isCut, isDamaged });
}

/** Whether the file itself has the character that stands for unreadable bytes. */
function includesReplacement(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("\uFFFD");
}

function fromText(text: string, { isCut, isDamaged }: Pick<DecodedScript, "isCut" | "isDamaged">): DecodedScript {
  const plain = text.replace(/^\uFEFF/u, "").replaceAll(/\r\n?/gu, "\n");
  return { text: plain, isCut, isDamaged, isBinary: plain.includes("\0") };
}
