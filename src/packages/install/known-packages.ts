/** How packages of Python are called on the index, where that is not the name of the module. */
const pythonPackages: Readonly<Record<string, string>> = {
  attr: "attrs",
  azure: "azure-core",
  Bio: "biopython",
  bs4: "beautifulsoup4",
  Crypto: "pycryptodome",
  cv2: "opencv-python",
  dateutil: "python-dateutil",
  discord: "discord-py",
  docx: "python-docx",
  dotenv: "python-dotenv",
  faiss: "faiss-cpu",
  fitz: "pymupdf",
  flask_cors: "flask-cors",
  git: "gitpython",
  github: "pygithub",
  googleapiclient: "google-api-python-client",
  google_auth_oauthlib: "google-auth-oauthlib",
  jose: "python-jose",
  jwt: "pyjwt",
  kafka: "kafka-python",
  magic: "python-magic",
  mpl_toolkits: "matplotlib",
  MySQLdb: "mysqlclient",
  nacl: "pynacl",
  OpenSSL: "pyopenssl",
  osgeo: "gdal",
  PIL: "pillow",
  pkg_resources: "setuptools",
  pptx: "python-pptx",
  psycopg2: "psycopg2-binary",
  pythoncom: "pywin32",
  rest_framework: "djangorestframework",
  ruamel: "ruamel-yaml",
  sentence_transformers: "sentence-transformers",
  serial: "pyserial",
  skimage: "scikit-image",
  sklearn: "scikit-learn",
  slack_sdk: "slack-sdk",
  slugify: "python-slugify",
  speech_recognition: "speechrecognition",
  telegram: "python-telegram-bot",
  tlz: "toolz",
  umap: "umap-learn",
  usb: "pyusb",
  websocket: "websocket-client",
  whisper: "openai-whisper",
  win32com: "pywin32",
  yaml: "pyyaml",
  youtube_transcript_api: "youtube-transcript-api",
  zmq: "pyzmq",
};

/** Modules in a package that several packages share: `google.genai` is in another one than `google.cloud.storage`. */
const pythonSubmodules: Readonly<Record<string, string>> = {
  "google.adk": "google-adk",
  "google.api_core": "google-api-core",
  "google.auth": "google-auth",
  "google.cloud.aiplatform": "google-cloud-aiplatform",
  "google.cloud.bigquery": "google-cloud-bigquery",
  "google.cloud.firestore": "google-cloud-firestore",
  "google.cloud.secretmanager": "google-cloud-secret-manager",
  "google.cloud.speech": "google-cloud-speech",
  "google.cloud.storage": "google-cloud-storage",
  "google.cloud.texttospeech": "google-cloud-texttospeech",
  "google.cloud.translate": "google-cloud-translate",
  "google.cloud.vision": "google-cloud-vision",
  "google.genai": "google-genai",
  "google.generativeai": "google-generativeai",
  "google.oauth2": "google-auth",
  "google.protobuf": "protobuf",
  "azure.identity": "azure-identity",
  "azure.keyvault.secrets": "azure-keyvault-secrets",
  "azure.storage.blob": "azure-storage-blob",
};

/** Packages that are called like their module and that many programs use: others may be anything that was published under a name. */
const wellKnown = {
  python: `absl-py aiofiles aiohttp aiosqlite alembic altair annotated-types anthropic anyio apscheduler arrow arxiv asyncpg asyncssh backoff
    bleach bokeh boto3 botocore brotli cachetools cairosvg camelot-py certifi cffi chardet charset-normalizer chromadb click cloudscraper
    colorama cryptography cssselect cycler dash dask datasets ddgs defusedxml deepdiff diskcache django dnspython docker docopt docutils
    duckdb duckduckgo-search edge-tts einops elasticsearch emoji exifread faker fastapi fastmcp feedparser ffmpeg-python filelock fire flask
    folium fonttools fpdf2 fsspec gensim geopandas geopy gradio graphviz greenlet grpcio gspread gunicorn h5py html2text html5lib httplib2
    httpx httpx-sse huggingface-hub humanize hypothesis icalendar idna imageio imapclient inflect ipython isodate jinja2 jmespath joblib
    json5 jsonpath-ng jsonschema kaleido keyring kubernetes ldap3 langchain langchain-core langchain-openai langgraph librosa lightgbm litellm
    llama-index loguru lxml markdown markdown-it-py markdown2 markdownify markitdown markupsafe marshmallow matplotlib mcp mistralai mistune
    moviepy msal msgpack multidict mutagen mypy natsort nbconvert nbformat networkx newspaper3k nltk notion-client numba numexpr numpy
    oauthlib odfpy ollama onnxruntime openai opencv-python openpyxl orjson packaging pandas pandoc paramiko parsel passlib patsy pdf2image
    pdfkit pdfminer-six pdfplumber peewee pendulum pexpect phonenumbers pikepdf playwright plotly polars praw prettytable prompt-toolkit
    protobuf psutil psycopg pyarrow pycountry pydantic pydantic-settings pydub pygments pymongo pymupdf pymysql pypandoc pyparsing pypdf pypdf2
    pypdfium2 pyperclip pytesseract pytest python-multipart pytz pyvis qrcode questionary rapidfuzz rasterio rdflib redis regex replicate
    reportlab requests requests-oauthlib rich ruff safetensors scapy scipy scrapy seaborn selenium semver sentencepiece shapely simplejson
    six smolagents sortedcontainers soundfile soupsieve spacy sqlalchemy sqlglot sqlmodel sqlparse starlette statsmodels streamlit stripe
    sympy tabula-py tabulate tavily-python tenacity tensorflow termcolor textblob textual tiktoken tinycss2 tldextract together tokenizers
    toml tomli tomlkit torch torchvision tornado tqdm trafilatura transformers trimesh tweepy twilio typer typing-extensions tzdata tzlocal
    ujson unidecode urllib3 uvicorn validators vl-convert-python watchdog watchfiles weasyprint websockets werkzeug wikipedia wordcloud
    xarray xgboost xlrd xlsxwriter xlwt xmltodict yarl yfinance yt-dlp zstandard`,
  npm: `@ai-sdk/openai @anthropic-ai/sdk @babel/parser @google/genai @modelcontextprotocol/sdk @notionhq/client @octokit/rest @slack/web-api
    adm-zip ajv archiver async axios better-sqlite3 bottleneck busboy canvas chalk chart.js cheerio chokidar cli-table3 commander cors
    cross-spawn csv-parse csv-stringify d3 date-fns dayjs debug decimal.js diff docx dotenv ejs execa exceljs express fast-glob
    fast-xml-parser fastify fflate figlet form-data fs-extra fuse.js globby glob got graphql gray-matter handlebars he highlight.js hono
    html-to-text iconv-lite immer ini inquirer ioredis istextorbinary joi jsdom js-yaml json5 jsonwebtoken jszip katex linkedom listr2 lodash
    lodash-es lru-cache luxon mammoth markdown-it marked mathjs mermaid micromatch mime-types minimatch minimist moment mongodb ms mustache
    mysql2 nanoid node-fetch nodemailer nunjucks open openai ora p-limit p-queue papaparse parse5 pdf-lib pdf-parse pdfjs-dist pdfkit pg
    pino playwright pptxgenjs prettier prompts puppeteer puppeteer-core qrcode qs ramda react react-dom react-icons redis rss-parser rxjs
    sass semver sharp simple-git slugify socket.io sql.js sqlite3 strip-ansi stripe superagent svgo tar terser tesseract.js toml tsx
    turndown typescript undici unified uuid vega vega-lite winston ws xlsx xml2js yaml yargs zod zx`,
} as const;

const sets = { python: toSet(wellKnown.python), npm: toSet(wellKnown.npm) };

function toSet(names: string): ReadonlySet<string> {
  return new Set(names.split(/\s+/u));
}

/** The package that a module of Python is installed by, if it is called otherwise. `deep` are dotted names that the script imports. */
export function findPythonPackage(module: string, deep: Iterable<string> = []): string | undefined {
  for (const name of deep) {
    const known = Object.entries(pythonSubmodules).find(([start]) => name === start || name.startsWith(`${start}.`));
    if (known !== undefined && name.startsWith(`${module}.`)) return known[1];
  }
  return Object.hasOwn(pythonPackages, module) ? pythonPackages[module] : undefined;
}

/** Tells whether a package is one that many programs use: only such a name is offered, because anyone can publish under another. */
export function isWellKnown(index: "python" | "npm", name: string): boolean {
  const isOfTable = (table: Readonly<Record<string, string>>): boolean => Object.values(table).includes(name);
  return sets[index].has(name) || (index === "python" && (isOfTable(pythonPackages) || isOfTable(pythonSubmodules)));
}
