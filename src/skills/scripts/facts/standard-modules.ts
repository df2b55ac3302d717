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
export const nodeModules: ReadonlySet<string> = new Set(
  "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib test sqlite sea".split(
    " ",
  ),
);

/** How packages are called on the index, where that is not the name of the module. */
export const pythonPackages: Readonly<Record<string, string>> = {
  attr: "attrs",
  bs4: "beautifulsoup4",
  Crypto: "pycryptodome",
  cv2: "opencv-python",
  dateutil: "python-dateutil",
  docx: "python-docx",
  dotenv: "python-dotenv",
  faiss: "faiss-cpu",
  fitz: "pymupdf",
  git: "gitpython",
  github: "pygithub",
  googleapiclient: "google-api-python-client",
  google_auth_oauthlib: "google-auth-oauthlib",
  jwt: "pyjwt",
  magic: "python-magic",
  markdown: "markdown",
  mpl_toolkits: "matplotlib",
  OpenSSL: "pyopenssl",
  PIL: "pillow",
  pkg_resources: "setuptools",
  pptx: "python-pptx",
  psycopg2: "psycopg2-binary",
  rest_framework: "djangorestframework",
  serial: "pyserial",
  skimage: "scikit-image",
  sklearn: "scikit-learn",
  slugify: "python-slugify",
  telegram: "python-telegram-bot",
  usb: "pyusb",
  websocket: "websocket-client",
  win32com: "pywin32",
  yaml: "pyyaml",
  youtube_transcript_api: "youtube-transcript-api",
};
