import { parseCode, type Code } from "../code/code.ts";
import {
  javascriptSyntax,
  luaSyntax,
  perlSyntax,
  phpSyntax,
  powershellSyntax,
  rSyntax,
  rubySyntax,
  type Syntax,
} from "../code/syntax.ts";
import { commentTexts, textsOf } from "../code/texts.ts";
import { toDescription } from "../describe.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import type { ArgvFacts, StdinFact } from "../hand/argv-facts.ts";
import { deriveByHand } from "../hand/derive-by-hand.ts";
import {
  luaDialect,
  perlDialect,
  phpDialect,
  powershellDialect,
  rDialect,
  rubyDialect,
  type Dialect,
} from "../hand/dialects.ts";
import { createHelpTexts, type HelpTexts } from "../hand/help-texts.ts";
import { readCode } from "../hand/read-code.ts";
import type { Reading, SourceScript } from "../reading.ts";
import type { ScriptLanguage } from "../script-interface.ts";
import { readUsage } from "../usage/read-usage.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { fromLuaArgparse } from "./lua.ts";
import { fromGetoptLong, withShifts } from "./perl.ts";
import { fromGetopt } from "./php.ts";
import { fromParamBlock, readCommentHelp } from "./powershell.ts";
import { fromOptparse } from "./r.ts";
import { fromOptionParser } from "./ruby.ts";

/** What is particular about a language. */
interface Language {
  readonly syntax: Syntax;
  readonly dialect: Dialect;
  /** Reads the usual way in which arguments are declared. */
  declared?(code: Code, help: HelpTexts, text: string): DerivedInterface | undefined;
  /** Changes facts that only this language has. */
  facts?(facts: ArgvFacts, code: Code): ArgvFacts;
  readonly stdin: RegExp;
  /** Asks the user something. */
  readonly asks: RegExp;
}

const nothing = /(?!)/u;

const languages: Readonly<Partial<Record<ScriptLanguage, Language>>> = {
  ruby: {
    syntax: rubySyntax,
    dialect: rubyDialect,
    declared: fromOptionParser,
    stdin: /\$stdin\b|STDIN\.|ARGF\b/u,
    asks: /(?:^|[\s=(])gets\b/mu,
  },
  perl: {
    syntax: perlSyntax,
    dialect: perlDialect,
    declared: fromGetoptLong,
    facts: withShifts,
    stdin: /<STDIN>|<>/u,
    asks: nothing,
  },
  php: {
    syntax: phpSyntax,
    dialect: phpDialect,
    declared: fromGetopt,
    stdin: /php:\/\/stdin|STDIN/u,
    asks: /\breadline\(/u,
  },
  lua: {
    syntax: luaSyntax,
    dialect: luaDialect,
    declared: fromLuaArgparse,
    stdin: /io\.(?:read|lines)\b|io\.stdin/u,
    asks: nothing,
  },
  r: {
    syntax: rSyntax,
    dialect: rDialect,
    declared: fromOptparse,
    stdin: /file\(["']stdin["']\)/u,
    asks: /\breadline\(/u,
  },
  powershell: {
    syntax: powershellSyntax,
    dialect: powershellDialect,
    declared: (code, _help, text) => fromParamBlock(code, text),
    stdin: /\$input\b|\[Console\]::In/iu,
    asks: /\bRead-Host\b/iu,
  },
};

/** For a language we know nothing of, the comments and strings are those of most. */
const plain: Language = {
  syntax: javascriptSyntax,
  dialect: { roots: [] },
  stdin: nothing,
  asks: nothing,
};

/** Reads a script in one of the languages that need no reader of their own. */
export function deriveOther(source: SourceScript): Reading {
  const language = languages[source.language] ?? plain;
  const code = parseCode(source.text, language.syntax);
  const description = describe(source, code);
  const texts = source.language === "other" ? [withoutMarks(source.text)] : textsOf(code);
  const help = createHelpTexts(code, readUsage(texts, source.fileName));
  const declared = language.declared?.(code, help, source.text);
  const derived = declared ?? deriveManual(source, code, { language, texts });
  const takesNothing = derived.commands.every(({ parameters }) => parameters.length === 0);
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
  code: Code,
  { language, texts }: ManualSources,
): DerivedInterface {
  const read = readCode(code, language.dialect);
  const stdin: StdinFact | undefined = language.stdin.test(text) ? { as: "text", fields: [] } : undefined;
  const facts = withoutUndefined<ArgvFacts>({ ...(language.facts?.(read, code) ?? read), stdin });
  const words = new Set(code.tokens.filter((token) => token.kind === "string").map((token) => token.text));
  // Of an unknown language nobody can say that it takes nothing.
  const known = name === "other" ? { ...facts, readsArgv: true } : facts;
  return deriveByHand({ fileName, facts: known, texts, isWord: (word) => words.has(word) });
}

/** Lines that start at the margin and are more than definitions make a file a program. */
function isLibrary({ language, text }: SourceScript): boolean {
  if (language !== "ruby" && language !== "perl" && language !== "php" && language !== "lua") return false;
  if (text.startsWith("#!")) return false;
  const definition =
    /^(?:require|use|package|module|class|def|sub|function|local function|namespace|interface|abstract|final|end|\}|\)|#|\/\/|--|\/\*| \*|\*|<\?php|1;|return|=|__END__|declare|const|\s|$)/u;
  return text.split("\n", 5000).every((line) => definition.test(line));
}

function describe({ fileName, text, language }: SourceScript, code: Code): string {
  if (language === "powershell") {
    const { description } = readCommentHelp(text);
    if (description !== "") return toDescription(description);
  }
  const first = code.tokens[0]?.line ?? Number.POSITIVE_INFINITY;
  const head = code.comments.filter((comment) => comment.line <= first + 3 && !comment.text.startsWith("!"));
  for (const comment of commentTexts(head)) {
    const description = toDescription(comment, fileName);
    if (description !== "") return description;
  }
  return "";
}
