import type { ScriptImport, ScriptLanguage } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { DeclaredPackages } from "./declared-packages.ts";
import { findPythonPackage } from "../../../packages/install/known-packages.ts";

/** What there is to know about the imports of a script. */
export interface ImportSources {
  readonly language: ScriptLanguage;
  readonly path: string;
  readonly text: string;
  /** The modules that a reader found; without them the text is searched. */
  readonly modules?: readonly string[] | undefined;
  /** The names of the skill's own files and folders, without endings. */
  readonly local: ReadonlySet<string>;
  readonly declared: DeclaredPackages;
}

const mostImports = 200;

/** Finds the packages that a script imports and its language does not bring along, and where they are declared. */
export function findImports(sources: ImportSources): readonly ScriptImport[] {
  if (sources.language === "python") return fromPython(sources);
  const isJavascript = sources.language === "javascript" || sources.language === "typescript";
  return isJavascript ? fromJavascript(sources) : [];
}

function fromPython({ text, path, modules, local, declared }: ImportSources): readonly ScriptImport[] {
  const inline = new Set(inlinePackages(text).map(normalise));
  const deep = sharedNamesIn(text);
  const names = new Set((modules ?? modulesIn(text)).filter((name) => isForeign(name, local)));
  return [...names]
    .toSorted()
    .slice(0, mostImports)
    .map((name) => {
      const wanted = findPythonPackage(name, deep) ?? name;
      const spellings = [wanted, name, `python-${name}`, `${name}-python`].map(normalise);
      const isInline = spellings.some((spelling) => inline.has(spelling)) || hasPrefix(inline, name);
      const file = isInline
        ? path
        : declared.find("python", (spelling) => spellings.includes(normalise(spelling)) || isPrefixed(spelling, name));
      return withoutUndefined<ScriptImport>({ name, package: normalise(wanted), declaredIn: file });
    });
}

function isForeign(name: string, local: ReadonlySet<string>): boolean {
  return (
    !name.startsWith(".") && !name.startsWith("_") && !pythonModules.has(name) && !local.has(name) && name !== "kitbag"
  );
}

/** One name for many packages: `google` is in `google-genai`, `google-cloud-storage` and others. */
function isPrefixed(spelling: string, name: string): boolean {
  return (name === "google" || name === "azure") && normalise(spelling).startsWith(`${name}-`);
}

function hasPrefix(names: ReadonlySet<string>, name: string): boolean {
  return [...names].some((spelling) => isPrefixed(spelling, name));
}

/** As the package index compares names. */
function normalise(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/gu, "-");
}

function modulesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)/gmu), ([, module = ""]) => module);
}

/** The dotted names that a text imports from modules that several packages share. */
function sharedNamesIn(text: string): readonly string[] {
  if (!/\b(?:google|azure)\b/u.test(text)) return [];
  const froms = text.matchAll(/^[ \t]*from[ \t]+((?:google|azure)[\w.]*)[ \t]+import[ \t]+\(?[ \t\n]*(\w+)/gmu);
  const plain = text.matchAll(/^[ \t]*import[ \t]+((?:google|azure)\.[\w.]+)/gmu);
  return [
    ...Array.from(froms, ([, module = "", name = ""]) => `${module}.${name}`),
    ...Array.from(plain, ([, module = ""]) => module),
  ];
}

/** The packages of an inline block: `# /// script`. */
export function inlinePackages(text: string): readonly string[] {
  if (!text.includes("# /// script")) return [];
  const block = /^# \/\/\/ script[^\n]*\n((?:#[^\n]*\n){0,200}?)# \/\/\/\s*$/mu.exec(text)?.[1] ?? "";
  const list = /dependencies\s*=\s*\[([\s\S]{0,8000}?)\]/u.exec(block.replaceAll(/^# ?/gmu, ""))?.[1] ?? "";
  return Array.from(list.matchAll(/["']([A-Za-z0-9][\w.-]*)/gu), ([, name = ""]) => name);
}

const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)["']([^"'\n]{1,200})["']/gu;

function fromJavascript({ text, path, declared }: ImportSources): readonly ScriptImport[] {
  const found = new Map<string, boolean>();
  for (const [, specifier = ""] of text.matchAll(specifiers)) {
    const isInline = /^(?:npm|jsr):/u.test(specifier);
    const name = packageOf(specifier);
    if (name !== undefined) found.set(name, isInline || found.get(name) === true);
  }
  return [...found]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .slice(0, mostImports)
    .map(([name, isInline]) => {
      const file = isInline ? path : declared.find("javascript", (spelling) => spelling === name);
      return withoutUndefined<ScriptImport>({ name, package: name, declaredIn: file });
    });
}

/** The package of a specifier: `lodash/get` → `lodash`. Nothing for files and for what the runtime brings along. */
function packageOf(specifier: string): string | undefined {
  if (/^(?:\.|\/|node:|bun:|bun$|deno:|https?:|file:|#|@\/|~)/u.test(specifier)) return undefined;
  const bare = specifier.replace(/^(?:npm|jsr):\/?/u, "");
  const [, name] = /^((?:@[\w.-]+\/)?[\w.-]+)/u.exec(bare) ?? [];
  return name === undefined || nodeModules.has(name.split("/")[0] ?? "") ? undefined : name;
}

/** The modules of Python's standard library, of all versions from 3.8 on. */
const pythonModules: ReadonlySet<string> = new Set(
  `__future__ __main__ _thread abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2
  calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg cProfile crypt csv ctypes curses
  dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools
  gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma
  mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib ntpath numbers operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
  queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog
  tabnanny tarfile telnetlib tempfile termios test textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`.split(
    /\s+/u,
  ),
);

/** The modules that Node brings along, as they are imported without `node:`. */
const nodeModules: ReadonlySet<string> = new Set(
  "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib test sqlite sea".split(
    " ",
  ),
);
