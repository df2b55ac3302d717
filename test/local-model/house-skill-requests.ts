import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the example skills. */
export const houseSkillRequests: readonly RequestCase[] = [
  {
    ask: "whats inside backup.tar.gz",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "backup.tar.gz" }),
  },
  {
    ask: "is it safe to unpack installer.zip?",
    calls: viaSkill("archive-inspect", "archive-check", { archive: "installer.zip" }),
  },
  {
    ask: "list the 10 biggest files in backup.zip",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "backup.zip", sort: "size", limit: 10 }),
  },
  {
    ask: "read docs/intro.md out of site.zip please",
    calls: viaSkill("archive-inspect", "archive-show", { archive: "site.zip", entry: "docs/intro.md" }),
  },
  {
    ask: "which pngs are in photos.zip?",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "photos.zip", match: "*.png" }),
  },
  {
    ask: 'crc32 of "hello world"',
    calls: viaSkill("checksums", "digest", { text: "hello world", algorithm: "crc32" }),
  },
  {
    ask: "Is DE89 3704 0044 0532 0130 00 a valid IBAN?",
    calls: viaSkill("checksums", "check-number", { number: "DE89 3704 0044 0532 0130 00", kind: "iban" }),
  },
  {
    ask: "check the isbn 978-0-306-40615-7",
    calls: viaSkill("checksums", "check-number", { number: "978-0-306-40615-7", kind: "isbn" }),
  },
  { ask: "is 4111111111111111 valid?", calls: [["activate_skill", { name: "checksums" }]], says: /kind|card/i },
  {
    ask: "give me an overview of customers.csv",
    calls: viaSkill("csv-report", "summarize", { file: "customers.csv" }),
  },
  {
    ask: "total revenue per country in orders.csv",
    calls: viaSkill("csv-report", "group_by", { file: "orders.csv", by: ["country"], sum: ["revenue"] }),
  },
  {
    ask: "In orders.csv, what's the average price by category where status=shipped? As markdown",
    calls: viaSkill("csv-report", "group_by", {
      file: "orders.csv",
      by: ["category"],
      mean: ["price"],
      where: ["status=shipped"],
      format: "markdown",
    }),
  },
  {
    ask: "what happened in this repo in the last two weeks",
    calls: viaSkill("git-summary", "summary", { since: "2 weeks ago" }),
  },
  {
    ask: "what did Ada do since 2026-10-01?",
    calls: viaSkill("git-summary", "summary", { since: "2026-10-01", author: "Ada" }),
  },
  { ask: "top 5 files that change the most", calls: viaSkill("git-summary", "hotspots", { limit: 5 }) },
  { ask: "list the commits between v1.2 and v1.3", calls: viaSkill("git-summary", "commits", { range: "v1.2..v1.3" }) },
  {
    ask: "compare old.json with new.json but ignore updatedAt",
    calls: viaSkill("json-query", "diff", { before: "old.json", after: "new.json", ignore: ["updatedAt"] }),
  },
  {
    ask: "get users[*].email from people.json",
    calls: viaSkill("json-query", "query", { file: "people.json", path: "users[*].email" }),
  },
  { ask: "what keys are in config.json?", calls: viaSkill("json-query", "shape", { file: "config.json" }) },
  {
    ask: "which python files under src have no licence header?",
    calls: viaSkill("license-headers", "check-headers", { root: "src", extensions: "py" }),
  },
  {
    ask: "add an MIT header for Jane Doe to all files, but only show what would change",
    calls: viaSkill("license-headers", "add-headers", { license: "MIT", holder: "Jane Doe", dry_run: true }),
  },
  {
    ask: "add licence headers",
    calls: [["activate_skill", { name: "license-headers" }]],
    says: /licen[sc]e[^]*holder|holder[^]*licen[sc]e/i,
  },
  {
    ask: "table of contents for GUIDE.md, down to level 4, and write it into the file",
    calls: viaSkill("markdown-toc", "toc", { file: "GUIDE.md", max_level: 4, write: true }),
  },
  {
    ask: "any broken links in README.md or docs/install.md?",
    calls: viaSkill("markdown-toc", "check-links", { file: ["README.md", "docs/install.md"] }),
  },
  {
    ask: ["how many pages has thesis.pdf?", "and what does page 3 say?"],
    calls: [
      ...viaSkill("pdf-text", "pdf_info", { pdf: "thesis.pdf" }),
      ["pdf-text__extract_text", { pdf: "thesis.pdf", pages: "3" }],
    ],
  },
  {
    ask: "get me the text of pages 2-5 of contract.pdf as json",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "contract.pdf", pages: "2-5", format: "json" }),
  },
  {
    ask: ["how many words are in intro.md?", "and in outro.md?"],
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "intro.md" }),
      ["text-stats__stats-count", { file: "outro.md" }],
    ],
  },
  {
    ask: "is essay.txt hard to read? show the 5 hardest sentences",
    calls: viaSkill("text-stats", "stats-readability", { file: "essay.txt", sentences: 5 }),
  },
  {
    ask: "most common 3 word phrases in speech.txt",
    calls: viaSkill("text-stats", "stats-words", { file: "speech.txt", phrase_length: 3 }),
  },
  {
    ask: ["add a task: write the tests", "add another one: ship it", "first one is done"],
    calls: [
      ...viaSkill("task-list", "add", { text: "write the tests" }),
      ["task-list__add", { text: "ship it" }],
      ["task-list__finish", { number: "1" }],
    ],
  },
  {
    ask: "how many words does notes.md have, and then check its links",
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "notes.md" }),
      ...viaSkill("markdown-toc", "check-links", { file: ["notes.md"] }),
    ],
  },
  { ask: "what are you able to do?", calls: [], says: /archive|pdf|csv/i },
  { ask: "delete README.md", calls: [], says: /cannot|can't|no tool|nothing/i },
  { ask: "how many words are in it?", calls: [["activate_skill", { name: "text-stats" }]], says: /file|which/i },
];
