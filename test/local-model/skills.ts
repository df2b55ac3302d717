import { call, type LocalRequest } from "./request.ts";

/** Requests over the skills that ship with Kitbag. */
export const skillRequests: readonly LocalRequest[] = [
  // What `npm start`, README and the guide suggest:
  { ask: "How many words does README.md have?", want: call("text-stats__stats-count", { file: "README.md" }) },
  { ask: "What is the sha256 of 'hello world'?", want: call("checksums__digest", { text: "hello world" }) },
  { ask: "Make a table of contents of README.md", want: call("markdown-toc__toc", { file: "README.md" }) },
  { ask: "Which files change most in this repository?", want: call("git-summary__hotspots", {}) },
  {
    ask: "Is 4539 1488 0343 6467 a valid card number?",
    want: call("checksums__check-number", { number: "4539 1488 0343 6467", kind: "card" }),
  },
  { ask: "Add the task 'Write the report' to the list", want: call("task-list__add", { text: "Write the report" }) },
  {
    ask: "Sum amount by region in sales.csv",
    want: call("csv-report__group_by", { by: ["region"], sum: ["amount"], file: "sales.csv" }),
  },
  { ask: "Is bad.zip safe to unpack?", want: call("archive-inspect__archive-check", { archive: "bad.zip" }) },
  { ask: "what is the server port in config.json", want: "decline" },
  { ask: "count the words in notes/intro.md", want: call("text-stats__stats-count", { file: "notes/intro.md" }) },
  {
    ask: "What are the most frequent words in speech.txt?",
    want: call("text-stats__stats-words", { file: "speech.txt" }),
  },
  {
    ask: "show me the 5 most frequent words of speech.txt",
    want: call("text-stats__stats-words", { file: "speech.txt", top: 5 }),
  },
  { ask: "how hard is essay.txt to read?", want: call("text-stats__stats-readability", { file: "essay.txt" }) },
  { ask: "What's inside backup.tar.gz?", want: call("archive-inspect__archive-list", { archive: "backup.tar.gz" }) },
  {
    ask: "list the files in release.zip sorted by size",
    want: call("archive-inspect__archive-list", { archive: "release.zip", sort: "size" }),
  },
  {
    ask: "is there anything dangerous in upload.zip",
    want: call("archive-inspect__archive-check", { archive: "upload.zip" }),
  },
  {
    ask: "read docs/setup.md out of the archive bundle.tar",
    want: call("archive-inspect__archive-show", { archive: "bundle.tar", entry: "docs/setup.md" }),
  },
  { ask: 'crc32 of "kitbag"', want: call("checksums__digest", { text: "kitbag", algorithm: "crc32" }) },
  {
    ask: "compute the adler32 checksum of 'abc'",
    want: call("checksums__digest", { text: "abc", algorithm: "adler32" }),
  },
  {
    ask: "Is 978-3-16-148410-0 a valid ISBN?",
    want: call("checksums__check-number", { number: "978-3-16-148410-0", kind: "isbn" }),
  },
  {
    ask: "check the IBAN DE89 3704 0044 0532 0130 00",
    want: call("checksums__check-number", { number: "DE89 3704 0044 0532 0130 00", kind: "iban" }),
  },
  { ask: "summarise orders.csv", want: call("csv-report__summarize", { file: "orders.csv" }) },
  {
    ask: "average price by category in products.csv",
    want: call("csv-report__group_by", { file: "products.csv", by: ["category"], mean: ["price"] }),
  },
  {
    ask: "group orders.csv by country as markdown",
    want: call("csv-report__group_by", { file: "orders.csv", by: ["country"], format: "markdown" }),
  },
  { ask: "list the last 10 commits", want: call("git-summary__commits", { limit: 10 }) },
  {
    ask: "summarise this git repository since 2026-10-01",
    want: call("git-summary__summary", { since: "2026-10-01" }),
  },
  { ask: "hotspots limit=3", want: call("git-summary__hotspots", { limit: 3 }) },
  { ask: "compare old.json with new.json", want: call("json-query__diff", { before: "old.json", after: "new.json" }) },
  { ask: "what is the shape of response.json?", want: call("json-query__shape", { file: "response.json" }) },
  {
    ask: "query package.json path: scripts.test",
    want: call("json-query__query", { file: "package.json", path: "scripts.test" }),
  },
  { ask: "find broken links in docs/guide.md", want: call("markdown-toc__check-links", { file: ["docs/guide.md"] }) },
  { ask: "which source files lack a licence header?", want: call("license-headers__check-headers", {}) },
  {
    ask: "extract the text of paper.pdf, pages 2-4",
    want: call("pdf-text__extract_text", { pdf: "paper.pdf", pages: "2-4" }),
  },
  {
    ask: "how many pages does contract.pdf have and who wrote it",
    want: call("pdf-text__pdf_info", { pdf: "contract.pdf" }),
  },
  {
    ask: "count the words of a.txt then find its most frequent words",
    want: [
      ["text-stats__stats-count", { file: "a.txt" }],
      ["text-stats__stats-words", { file: "a.txt" }],
    ],
  },
  { ask: "add a licence header to all source files", want: "ask" },
  { ask: "make a table of contents", want: "ask" },
  { ask: "compute the sha256", want: "ask" },
  { ask: "what is 12 percent of 340?", want: "decline" },
  { ask: "what is the database password in settings.yaml", want: "decline" },
  { ask: "rename photo.jpg to holiday.jpg", want: "decline" },
  { ask: "who won the world cup in 2014?", want: "decline" },
  { ask: "unpack bundle.zip into /tmp", want: "decline" },
  { ask: "How many sentences are in chapter1.md?", want: call("text-stats__stats-count", { file: "chapter1.md" }) },
  { ask: "what words does blog.md repeat most often?", want: call("text-stats__stats-words", { file: "blog.md" }) },
  { ask: "rate the readability of terms.txt", want: call("text-stats__stats-readability", { file: "terms.txt" }) },
  {
    ask: "check whether installer.zip is safe to unpack",
    want: call("archive-inspect__archive-check", { archive: "installer.zip" }),
  },
  {
    ask: "list the *.json entries of data.tar",
    want: call("archive-inspect__archive-list", { archive: "data.tar", match: "*.json" }),
  },
  { ask: 'fnv1a hash of the text "Zürich"', want: call("checksums__digest", { text: "Zürich", algorithm: "fnv1a" }) },
  {
    ask: "is the barcode 4006381333931 a valid EAN",
    want: call("checksums__check-number", { number: "4006381333931", kind: "ean" }),
  },
  {
    ask: "total of revenue per month in sales/2026.csv",
    want: call("csv-report__group_by", { file: "sales/2026.csv", by: ["month"], sum: ["revenue"] }),
  },
  {
    ask: "which columns of people.tsv have missing values?",
    want: call("csv-report__summarize", { file: "people.tsv" }),
  },
  { ask: "commits range=v1.0..v1.1", want: call("git-summary__commits", { range: "v1.0..v1.1" }) },
  { ask: "which files changed most since 2026-01-01?", want: call("git-summary__hotspots", { since: "2026-01-01" }) },
  {
    ask: "what changed between staging.json and production.json",
    want: call("json-query__diff", { before: "staging.json", after: "production.json" }),
  },
  {
    ask: "find users[*].email in accounts.json",
    want: call("json-query__query", { file: "accounts.json", path: "users[*].email" }),
  },
  {
    ask: "table of contents of CHANGELOG.md with max_level=2",
    want: call("markdown-toc__toc", { file: "CHANGELOG.md", max_level: 2 }),
  },
  {
    ask: "check the links in README.md and docs/api.md",
    want: call("markdown-toc__check-links", { file: ["README.md", "docs/api.md"] }),
  },
  {
    ask: 'add headers license=MIT holder="Acme Ltd"',
    want: call("license-headers__add-headers", { license: "MIT", holder: "Acme Ltd" }),
  },
  { ask: "what is the title of thesis.pdf?", want: call("pdf-text__pdf_info", { pdf: "thesis.pdf" }) },
  { ask: "add a task: call the plumber", want: call("task-list__add", { text: "call the plumber" }) },
  { ask: "what tasks are left?", want: call("task-list__list", {}) },
  { ask: "finish task 3", want: call("task-list__finish", { number: "3" }) },
  { ask: "summarise the table", want: "ask" },
  { ask: "compare the two json files", want: "ask" },
  { ask: "write a haiku about autumn", want: "decline" },
  { ask: "what is the timeout in app.toml?", want: "decline" },
  { ask: "convert report.pdf to word", want: "decline" },
  { ask: "delete all the tasks", want: "decline" },
  { ask: "how old is my repository's owner?", want: "decline" },
];
