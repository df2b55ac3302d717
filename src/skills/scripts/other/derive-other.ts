import { noFacts, type ArgvFacts, type StdinFact } from "../arguments/argv-facts.ts";
import { deriveManualInterface } from "../arguments/derive-manual.ts";
import { createHelpTexts, type HelpTexts } from "../arguments/help-texts.ts";
import { headComments, textsOf } from "../code/pieces.ts";
import {
  luaSyntax,
  perlSyntax,
  phpSyntax,
  plainSyntax,
  powershellSyntax,
  pythonSyntax,
  rSyntax,
  rubySyntax,
  scan,
  type Scanned,
  type ScanSyntax,
} from "../code/scan.ts";
import { toDescription } from "../describe.ts";
import { withInput, type DerivedInterface } from "../derived-interface.ts";
import type { Reading, SourceScript } from "../reading.ts";
import type { ScriptLanguage } from "../script-interface.ts";
import { readUsage } from "../usage/read-usage.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fromLuaArgparse, withVarargs } from "./lua.ts";
import { fromGetoptLong, withShifts } from "./perl.ts";
import { fromGetopt } from "./php.ts";
import { plainArguments, readPlainPlaces, type PlainArguments } from "./plain-places.ts";
import { fromParamBlock, readCommentHelp } from "./powershell.ts";
import { fromOptparse } from "./r.ts";
import { fromOptionParser } from "./ruby.ts";

/** What is particular about a language. */
interface Language {
  readonly syntax: ScanSyntax;
  readonly arguments?: PlainArguments;
  /** Reads the usual way in which arguments are declared. */
  declared?(scanned: Scanned, help: HelpTexts): DerivedInterface | undefined;
  /** Changes facts that only this language has. */
  facts?(facts: ArgvFacts, scanned: Scanned): ArgvFacts;
  readonly stdin: RegExp;
  /** Asks the user something. */
  readonly asks: RegExp;
}

const nothing = /(?!)/u;

const languages: Readonly<Partial<Record<ScriptLanguage, Language>>> = {
  ruby: {
    syntax: rubySyntax,
    arguments: plainArguments.ruby,
    declared: fromOptionParser,
    stdin: /\$stdin\b|STDIN\.|ARGF\b/u,
    asks: /(?:^|[\s=(])gets\b/mu,
  },
  perl: {
    syntax: perlSyntax,
    arguments: plainArguments.perl,
    declared: fromGetoptLong,
    facts: withShifts,
    stdin: /<STDIN>|<>/u,
    asks: nothing,
  },
  php: {
    syntax: phpSyntax,
    arguments: plainArguments.php,
    declared: fromGetopt,
    stdin: /php:\/\/stdin|STDIN/u,
    asks: /\breadline\(/u,
  },
  lua: {
    syntax: luaSyntax,
    arguments: plainArguments.lua,
    declared: fromLuaArgparse,
    facts: withVarargs,
    stdin: /io\.(?:read|lines)\b|io\.stdin/u,
    asks: nothing,
  },
  r: {
    syntax: rSyntax,
    arguments: plainArguments.r,
    declared: fromOptparse,
    stdin: /file\(["']stdin["']\)/u,
    asks: /\breadline\(/u,
  },
  powershell: {
    syntax: powershellSyntax,
    arguments: plainArguments.powershell,
    declared: fromParamBlock,
    stdin: /\$input\b|\[Console\]::In/iu,
    asks: /\bRead-Host\b/iu,
  },
};

/** For a language that is not known, and for those whose parser cannot be loaded. */
const others: Readonly<Partial<Record<ScriptLanguage, Pick<Language, "syntax" | "arguments">>>> = {
  python: { syntax: pythonSyntax, arguments: plainArguments.python },
  javascript: { syntax: plainSyntax, arguments: plainArguments.javascript },
  typescript: { syntax: plainSyntax, arguments: plainArguments.javascript },
  shell: { syntax: rSyntax, arguments: plainArguments.shell },
};

function languageOf(name: ScriptLanguage): Language {
  return languages[name] ?? { syntax: plainSyntax, ...others[name], stdin: nothing, asks: nothing };
}

/** Reads a script in one of the languages that are not parsed. */
export function deriveOther(source: SourceScript): Reading {
  const language = languageOf(source.language);
  const scanned = scan(source.text, language.syntax);
  const description = describe(source, scanned);
  const texts = source.language === "other" ? [withoutMarks(source.text)] : textsOf(scanned.text, scanned.pieces);
  const help = createHelpTexts(readUsage(texts, source.fileName));
  const declared = language.declared?.(scanned, help);
  const isInput = declared !== undefined && language.stdin.test(source.text);
  const derived = isInput
    ? withInput(declared, { as: "text", fields: [] })
    : (declared ?? deriveManual(source, scanned, { language, texts }));
  const takesNothing = derived.commands.every(({ parameters, open }) => parameters.length === 0 && !open);
  if (takesNothing && language.asks.test(source.text))
    return { kind: "interactive", reason: "it asks questions at a terminal", description };
  if (takesNothing && isLibrary(source)) {
    return { kind: "library", reason: "it only defines things for other files", description };
  }
  return { kind: "tool", reason: "it runs by itself", description, interface: derived };
}

/** The lines without what marks a comment in one language or another. */
function withoutMarks(text: string): string {
  return text.replaceAll(/^[ \t]*(?:#+|\/\/+|--+|;+|"+|%+|\*+) ?/gmu, "");
}

interface ManualSources {
  readonly language: Language;
  readonly texts: readonly string[];
}

function deriveManual(
  { fileName, text, language: name }: SourceScript,
  scanned: Scanned,
  { language, texts }: ManualSources,
): DerivedInterface {
  const read = language.arguments === undefined ? noFacts : readPlainPlaces(scanned, language.arguments);
  const stdin: StdinFact | undefined = language.stdin.test(text) ? { as: "text", fields: [] } : undefined;
  // Of a language that is not read by a reader of its own, it is not known that a script takes nothing.
  const readsArgv = read.readsArgv || languages[name] === undefined;
  const facts = withoutUndefined<ArgvFacts>({
    ...(language.facts?.(read, scanned) ?? { ...read, readsArgv }),
    stdin,
  });
  const words = new Set(scanned.pieces.filter(({ kind }) => kind === "string").map((piece) => piece.text));
  return deriveManualInterface({ fileName, facts, texts, isWord: (word) => words.has(word) });
}

/** Lines that start at the margin and are more than definitions make a file a program. */
function isLibrary({ language, text }: SourceScript): boolean {
  if (language !== "ruby" && language !== "perl" && language !== "php" && language !== "lua") return false;
  if (text.startsWith("#!")) return false;
  const definition =
    /^(?:require|use|package|module|class|def|sub|function|local function|namespace|interface|abstract|final|end|\}|\)|#|\/\/|--|\/\*| \*|\*|<\?php\s*$|1;|return|=|__END__|declare|const|\s|$)/u;
  return text.split("\n", 5000).every((line) => definition.test(line));
}

function describe({ fileName, text, language }: SourceScript, { code, pieces }: Scanned): string {
  if (language === "powershell") {
    const { description } = readCommentHelp(text);
    if (description !== "") return toDescription(description);
  }
  const firstLine = code.slice(0, code.search(/\S|$/u)).split("\n").length;
  for (const comment of headComments(pieces, firstLine)) {
    const description = toDescription(comment, fileName);
    if (description !== "") return description;
  }
  return "";
}
