/** What Python and Node bring along, and how the modules that a script imports are called on package indexes. */

import { normaliseName } from "./python/parse-requirement.ts";

/** The ways in which the package of a module of Python is spelled, where authors name it. */
export function packageSpellings(module: string, wanted: string): readonly string[] {
  return [wanted, module, `python-${module}`, `${module}-python`].map(normaliseName);
}

/** One name for many packages: `google` is in `google-genai`, `google-cloud-storage` and others. */
export function isSharedName(spelling: string, name: string): boolean {
  return (name === "google" || name === "azure") && normaliseName(spelling).startsWith(`${name}-`);
}

/** The dotted names that a text imports from modules that several packages share. */
export function sharedNamesIn(text: string): readonly string[] {
  if (!/\b(?:google|azure)\b/u.test(text)) return [];
  const froms = text.matchAll(/^[ \t]*from[ \t]+((?:google|azure)[\w.]*)[ \t]+import[ \t]+\(?[ \t\n]*(\w+)/gmu);
  const plain = text.matchAll(/^[ \t]*import[ \t]+((?:google|azure)\.[\w.]+)/gmu);
  return [
    ...Array.from(froms, ([, module = "", name = ""]) => `${module}.${name}`),
    ...Array.from(plain, ([, module = ""]) => module),
  ];
}

const specifiers = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)["']([^"'\n]{1,200})["']/gu;

/** What a text of JavaScript imports or requires by a plain text. */
export function specifiersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(specifiers), ([, specifier = ""]) => specifier);
}

/** The package of a specifier: `lodash/get` → `lodash`. Nothing for files and for what the runtime brings along. */
export function nodePackageOf(specifier: string): string | undefined {
  if (/^(?:\.|\/|node:|bun:|bun$|deno:|https?:|file:|#|@\/|~)/u.test(specifier)) return undefined;
  const bare = specifier.replace(/^(?:npm|jsr):\/?/u, "");
  const [, name] = /^((?:@[\w.-]+\/)?[\w.-]+)/u.exec(bare) ?? [];
  return name === undefined || nodeModules.has(name.split("/")[0] ?? "") ? undefined : name;
}

/** The modules of Python's standard library, of all versions from 3.8 on. */
export const pythonModules: ReadonlySet<string> = new Set(
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
