import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the tools of a help desk. Today is Monday, 2026-11-16. */
export const deskRequests: readonly RequestCase[] = [
  {
    ask: 'open a ticket "Printer on floor 3 is jammed", priority P2, assign it to Maria',
    calls: [["createTicket", { title: "Printer on floor 3 is jammed", priority: "P2", assignee: "Maria" }]],
  },
  { ask: "new support ticket: VPN does not connect", calls: [["createTicket", { title: "VPN does not connect" }]] },
  {
    ask: "show me the closed tickets of Maria, max 5",
    calls: [["listTickets", { status: "closed", assignee: "Maria", limit: 5 }]],
  },
  { ask: "any open tickets?", calls: [["listTickets", { status: "open" }]] },
  {
    ask: "close ticket HELP-217 as duplicate",
    calls: [["closeTicket", { ticketId: "HELP-217", resolution: "duplicate" }]],
  },
  { ask: "close HELP-88", calls: [], says: /resolution/i },
  { ask: ["close HELP-88", "it's fixed"], calls: [["closeTicket", { ticketId: "HELP-88", resolution: "fixed" }]] },
  { ask: "please do not close ticket HELP-9 yet", calls: [] },
  {
    ask: "play some Miles Davis at volume 30, shuffled",
    calls: [["play_music", { artist: "Miles Davis", shuffle: true, volume: 30 }]],
  },
  // What orders things is asked about, unless the request says so in so many words.
  { ask: "I'd like a large latte with oat milk and cinnamon", calls: [], says: /order_coffee/u },
  {
    ask: ["I'd like a large latte with oat milk and cinnamon", "yes"],
    calls: [["order_coffee", { drink: "latte", size: "large", extras: ["oat milk", "cinnamon"] }]],
  },
  { ask: "get me a coffee", calls: [], says: /order_coffee/u },
  {
    ask: "monthly payment for a loan of 250,000 at 3.5 percent over 30 years?",
    calls: [["loan_payment", { principal: 250000, annual_rate_percent: 3.5, years: 30 }]],
  },
  {
    ask: "what would I pay per month if I borrow 20k for 5 years at 6%",
    calls: [["loan_payment", { principal: 20000, annual_rate_percent: 6, years: 5 }]],
  },
  {
    ask: "flights from Vienna to Oslo on December 12 for 2 passengers in business",
    calls: [
      [
        "search_flights",
        { origin: "Vienna", destination: "Oslo", depart: "2026-12-12", passengers: 2, cabin: "business" },
      ],
    ],
  },
  { ask: "find me a flight to Rome tomorrow", calls: [], says: /origin/i },
  {
    ask: ["find me a flight to Rome tomorrow", "from Madrid"],
    calls: [["search_flights", { origin: "Madrid", destination: "Rome", depart: "2026-11-17" }]],
  },
  { ask: "how is MSFT doing?", calls: [], says: /stock_price/u },
  {
    ask: "add Jo Nesbit to my contacts, phone +47 22 33 44 55, email jo@nesbit.no",
    calls: [["add_contact", { name: "Jo Nesbit", phone: "+47 22 33 44 55", email: "jo@nesbit.no" }]],
  },
  { ask: "remove Jo Nesbit from the address book", calls: [["delete_contact", { name: "Jo Nesbit" }]] },
  { ask: ["wake me at 6:45", "yes"], calls: [["set_alarm", { time: "06:45" }]] },
  {
    ask: "set an alarm for 7:30 am on mon, wed and fri, label: gym",
    calls: [["set_alarm", { time: "07:30", weekdays: ["mon", "wed", "fri"], label: "gym" }]],
  },
  {
    ask: "copy notes.txt to backup/notes.txt and overwrite it",
    calls: [["copy_file", { source: "notes.txt", destination: "backup/notes.txt", overwrite: true }]],
  },
  { ask: "copy report.docx", calls: [], says: /destination/i },
  { ask: "ping example.org 10 times", calls: [["ping", { host: "example.org", count: 10 }]] },
  {
    ask: "deploy version 2.3.1 of billing to staging",
    calls: [["deploy", { service: "billing", version: "2.3.1", environment: "staging" }]],
  },
  { ask: "deploy billing to prod", calls: [], says: /version/i },
  { ask: "if the tests pass, deploy billing 2.3.1 to prod", calls: [] },
  { ask: "what does 'ephemeral' mean?", calls: [["define_word", { word: "ephemeral" }]] },
  {
    ask: "i need a 24 character password without symbols",
    calls: [["generate_password", { length: 24, symbols: false }]],
  },
  { ask: "what time is it in Tokyo right now", calls: [["time_in", { city: "Tokyo" }]] },
  {
    ask: ["what time is it in Tokyo?", "and in Buenos Aires?"],
    calls: [
      ["time_in", { city: "Tokyo" }],
      ["time_in", { city: "Buenos Aires" }],
    ],
  },
  {
    ask: 'errors in the logs of checkout containing "timeout" in the last 6 hours',
    calls: [["query_logs", { service: "checkout", level: "error", contains: "timeout", hours: 6 }]],
  },
  {
    ask: "refund 19.99 for order 40213 because it arrived broken",
    calls: [["refund", { order_id: 40213, amount: 19.99, reason: "it arrived broken" }]],
  },
  { ask: "refund order 40213", calls: [], says: /amount/i },
  {
    ask: "turn the flag new-checkout on for 25%",
    calls: [["set_feature_flag", { flag: "new-checkout", enabled: true, percent: 25 }]],
  },
  { ask: "disable the feature flag dark-mode", calls: [["set_feature_flag", { flag: "dark-mode", enabled: false }]] },
  {
    ask: "log a run: 5 km in 28 minutes, yesterday",
    calls: [["track_workout", { activity: "running", duration_minutes: 28, distance_km: 5, date: "2026-11-15" }]],
  },
  {
    ask: ["i went swimming for an hour", "yes please"],
    calls: [["track_workout", { activity: "swimming", duration_minutes: 60 }]],
  },
  {
    ask: "vegetarian recipes with chickpeas, spinach and feta in at most 30 minutes",
    calls: [["recipe_search", { ingredients: ["chickpeas", "spinach", "feta"], vegetarian: true, max_minutes: 30 }]],
  },
  {
    ask: "shorten https://example.com/a/very/long/path?x=1 then ping example.com",
    calls: [
      ["shorten_url", { url: "https://example.com/a/very/long/path?x=1" }],
      ["ping", { host: "example.com" }],
    ],
  },
  {
    ask: "order coffee: espresso, small. After that, what time is it in Lima?",
    calls: [
      ["order_coffee", { drink: "espresso", size: "small" }],
      ["time_in", { city: "Lima" }],
    ],
  },
  { ask: "write me a poem about autumn", calls: [], says: /no tool|cannot|nothing/i },
  { ask: "hello, how are you today?", calls: [], says: /hello|\bhi\b/i },
  { ask: "which tools do you have?", calls: [], says: /coffee/i },
];

/** More requests over the example skills. */
export const deskSkillRequests: readonly RequestCase[] = [
  {
    ask: "can I trust setup.tar.xz?",
    calls: viaSkill("archive-inspect", "archive-check", { archive: "setup.tar.xz" }),
  },
  {
    ask: "show me only the json files in release.zip, biggest first",
    calls: viaSkill("archive-inspect", "archive-list", { archive: "release.zip", match: "*.json", sort: "size" }),
  },
  {
    ask: "sha-256 checksum for the text: The quick brown fox",
    calls: viaSkill("checksums", "digest", { text: "The quick brown fox", algorithm: "sha256" }),
  },
  {
    ask: "did I mistype this card number? 4539 1488 0343 6467",
    calls: viaSkill("checksums", "check-number", { number: "4539 1488 0343 6467", kind: "card" }),
  },
  {
    ask: "which columns does inventory.tsv have and which values are missing?",
    calls: viaSkill("csv-report", "summarize", { file: "inventory.tsv" }),
  },
  {
    ask: "max salary by department in staff.csv",
    calls: viaSkill("csv-report", "group_by", { file: "staff.csv", by: ["department"], max: ["salary"] }),
  },
  {
    ask: "who committed what in the past 10 days?",
    calls: viaSkill("git-summary", "summary", { since: "10 days ago" }),
  },
  { ask: "last 20 commits please", calls: viaSkill("git-summary", "commits", { limit: 20 }) },
  {
    ask: "what changed between v1.json and v2.json?",
    calls: viaSkill("json-query", "diff", { before: "v1.json", after: "v2.json" }),
  },
  {
    ask: "show the structure of package.json, 2 levels deep",
    calls: viaSkill("json-query", "shape", { file: "package.json", depth: 2 }),
  },
  {
    ask: "do all typescript files in lib have a copyright line?",
    calls: viaSkill("license-headers", "check-headers", { root: "lib", extensions: "ts" }),
  },
  {
    ask: "check whether the toc of CHANGELOG.md is up to date",
    calls: viaSkill("markdown-toc", "toc", { file: "CHANGELOG.md", check: true }),
  },
  {
    ask: ["are there dead links in guide.md?", "and in faq.md?"],
    calls: [
      ...viaSkill("markdown-toc", "check-links", { file: ["guide.md"] }),
      ["markdown-toc__check-links", { file: ["faq.md"] }],
    ],
  },
  { ask: "who wrote paper.pdf and is it encrypted?", calls: viaSkill("pdf-text", "pdf_info", { pdf: "paper.pdf" }) },
  {
    ask: "read the first 2 pages of paper.pdf",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "paper.pdf", pages: "1-2" }),
  },
  {
    ask: "how long does it take to read chapter1.txt?",
    calls: viaSkill("text-stats", "stats-count", { file: "chapter1.txt" }),
  },
  {
    ask: "top 5 words in chapter1.txt and then its readability",
    calls: [
      ...viaSkill("text-stats", "stats-words", { file: "chapter1.txt", top: 5 }),
      ["text-stats__stats-readability", { file: "chapter1.txt" }],
    ],
  },
  {
    ask: ["put 'call the plumber' on the task list", "what is left to do?"],
    calls: [...viaSkill("task-list", "add", { text: "call the plumber" }), ["task-list__list", { open: true }]],
  },
  { ask: "unzip data.zip", calls: [], says: /no tool|cannot|not sure|nothing/i },
];
