/** The ways in which the languages we read name the script that runs, wherever they stand. */
const selfNames = new RegExp(
  [
    String.raw`\$\(\s*basename\s[^)\n]{1,60}\)`,
    String.raw`\$\{[^}\n]{0,60}(?:argv|basename|filename|script)[^}\n]{0,60}\}`,
    String.raw`#\{(?:\$0|\$PROGRAM_NAME|__FILE__|File\.[^}\n]{1,50})\}`,
    String.raw`\{[^{}\n]{0,40}(?:sys\.argv\[0\]|__file__|script_name)[^{}\n]{0,40}\}`,
    String.raw`\{\$argv\[0\]\}|\$argv\[0\]`,
    String.raw`\$\{0[^}\n]{0,20}\}|\$0\b`,
    String.raw`\$\{?(?:SCRIPT|PROG|ME|SELF|BASENAME)(?:_?NAME)?\}?(?![\w])`,
    String.raw`%\(prog\)s|%prog\b`,
  ].join("|"),
  "giu",
);

/** What may stand for the script only where a line says that it is about usage. */
const weakNames = /%s|\{\}|[$#]?\{[^{}\n]{0,80}\}/gu;

/** In a usage text each of them becomes one mark, so that the line can be cut at spaces. */
const selfMark = "{0}";

/** Words that start a program or pass something on to it, so they may stand before its name. */
const callWord =
  /^(?:[>$*#|`"'•-]+|\S*(?:python[\d.]*|node|bash|sh|zsh|ruby|perl|php|lua|pwsh|powershell|Rscript|uv|uvx|npx|pnpm|bun|bunx|deno|tsx|ts-node|sudo|env|time|exec|poetry|pipenv|swift|dotnet)|run|script|--?[\w=.:,@/-]+|[A-Z_][A-Z0-9_]*=\S*|cat|echo|\.|source)$/u;

/** Those that take options of their own. */
const launcher = /^(?:python[\d.]*|node|uv|npx|bun|deno|docker|poetry|pipenv|conda|sudo)$/u;

/** Three plain words in a row, or what follows a name in a sentence: no command line looks like this. */
const prose = /^(?:[-–—:=]\s|is\s|was\s|will\s)|(?:^|\s)[a-z]{2,}\s[a-z]{2,}\s[a-z]{2,}(?:[\s.,]|$)/u;

/** Finds the calls of one script in lines of text. */
export interface ProgramFinder {
  /** What follows the program's name; nothing if the line does not start with a call of it. */
  after(line: string): string | undefined;
  /** The same for a line that follows a mark of usage. */
  afterMarked(line: string): string | undefined;
  /** The same for a line that is known to be a usage line: some other name for the program is stepped over too. */
  afterAny(line: string): string;
}

/** Makes a finder for the script that is called `fileName`. */
export function createProgramFinder(fileName: string): ProgramFinder {
  const names = { whole: fileName.toLowerCase(), stem: fileName.replace(/\.\w+$/u, "").toLowerCase() };

  function afterMarked(line: string): string | undefined {
    const text = normalise(line);
    return findAfter(text, names) ?? findAfter(text.replaceAll(weakNames, selfMark), names);
  }

  return {
    afterMarked,
    after(line) {
      const text = normalise(line);
      // Outside of a usage text a sentence may begin with the name: `extract: cannot open`, `extract is a tool`.
      const found = isCall(text, names) ? findAfter(text, names) : undefined;
      return found === undefined || prose.test(found) ? undefined : found;
    },
    afterAny(line) {
      const found = afterMarked(line);
      if (found !== undefined) return found;
      const text = normalise(line);
      for (const { word, end } of firstWords(text)) {
        if (/^[[<({"'-]/u.test(word)) return text.slice(end - word.length);
        if (!callWord.test(word)) return text.slice(end).trim();
      }
      return text.trim();
    },
  };
}

interface Names {
  readonly whole: string;
  readonly stem: string;
}

function isProgram(word: string, { stem }: Names): boolean {
  const bare = word.replaceAll(/^["'`]+|["'`:,]+$/gu, "");
  const name = (bare.split("/").at(-1) ?? "").toLowerCase();
  return bare.includes(selfMark) || name === stem || (name.startsWith(`${stem}.`) && name.length <= stem.length + 5);
}

function isWhole(word: string, { whole }: Names): boolean {
  return word.replaceAll(/["'`]/gu, "").toLowerCase().endsWith(whole) && whole.includes(".");
}

/** Whether a line names the whole file, or itself, or starts a program with it. */
function isCall(text: string, names: Names): boolean {
  for (const { word } of firstWords(text)) {
    if (isProgram(word, names)) {
      return !/[:,]["'`]*$/u.test(word) && (isWhole(word, names) || word.includes(selfMark) || word.includes("/"));
    }
    if (launcher.test(word)) return true;
  }
  return false;
}

function findAfter(line: string, names: Names): string | undefined {
  const text = lastOfPipe(line);
  let isLaunched = false;
  let isStrange = false;
  for (const { word, end } of firstWords(text)) {
    if (isProgram(word, names) && (!isStrange || isWhole(word, names)))
      return text.slice(end).trim().replace(/`+$/u, "");
    if (launcher.test(word)) isLaunched = true;
    // A line that begins with a flag is a row of a table: `--year YEAR  …` of year.sh is no call.
    else if (!isLaunched && /^--?[A-Za-z]/u.test(word)) return undefined;
    // After a launcher may stand the values of its options; prose never ends in the name of a file.
    if (!callWord.test(word)) isStrange = true;
    if (isStrange && !isLaunched) return undefined;
  }
  return undefined;
}

function normalise(line: string): string {
  return line.includes("{") || line.includes("$") || line.includes("%") ? line.replaceAll(selfNames, selfMark) : line;
}

/** In `echo '{}' | python x.py --flag` the call is what stands after the pipe. */
function lastOfPipe(text: string): string {
  const pipe = /\s\|\s+(?=\S*(?:python|node|bash|sh\b|\.\/))/u.exec(text);
  return pipe === null ? text : text.slice(pipe.index + pipe[0].length);
}

function* firstWords(text: string): Generator<{ word: string; end: number }> {
  const words = /\S+/gu;
  for (let count = 0; count < 12; count++) {
    const found = words.exec(text);
    if (found === null) return;
    yield { word: found[0], end: found.index + found[0].length };
  }
}
