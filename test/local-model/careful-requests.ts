import { viaSkill, type RequestCase } from "./request.ts";

/** Requests of which only a part can be done, or of which the nearest tool would do something else: all of them must be right. */
export const carefulRequests: readonly RequestCase[] = [
  { ask: "what does sales.csv look like?", calls: viaSkill("csv-report", "summarize", { file: "sales.csv" }) },
  {
    ask: "add a table of contents to README.md",
    calls: viaSkill("markdown-toc", "toc", { file: "README.md", write: true }),
  },
  {
    ask: "is the table of contents in README.md up to date?",
    calls: viaSkill("markdown-toc", "toc", { file: "README.md", check: true }),
  },
  { ask: "make a table of contents of README.md", calls: viaSkill("markdown-toc", "toc", { file: "README.md" }) },
  {
    ask: "count the words in draft.md, then count the words in draft.md, then summarise sales.csv",
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "draft.md" }),
      ...viaSkill("csv-report", "summarize", { file: "sales.csv" }),
    ],
  },
  {
    ask: "extract the text of report.pdf and count the words",
    calls: [...viaSkill("pdf-text", "extract_text", { pdf: "report.pdf" }), ["activate_skill", { name: "text-stats" }]],
    says: /That is not all of/u,
  },
  {
    ask: "add Apache-2.0 headers for Jane Doe to all generated files",
    calls: [["activate_skill", { name: "license-headers" }]],
    says: /I did nothing: .* "all generated files"/u,
  },
  {
    ask: "add Apache-2.0 headers for Jane Doe to all python files",
    calls: viaSkill("license-headers", "add-headers", { license: "Apache-2.0", holder: "Jane Doe", extensions: "py" }),
  },
  {
    ask: "add MIT headers for Jane Doe to all files",
    calls: viaSkill("license-headers", "add-headers", { license: "MIT", holder: "Jane Doe" }),
  },
  {
    ask: "sha256 of draft.md",
    calls: [["activate_skill", { name: "checksums" }]],
    says: /of a text/u,
  },
];
