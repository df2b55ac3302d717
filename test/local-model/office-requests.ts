import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the tools of an office. Today is Monday, 2026-11-16. */
export const officeRequests: readonly RequestCase[] = [
  { ask: "who is user 512?", calls: [["getUser", { userId: 512 }]] },
  {
    ask: "change the email of user 512 to ann@corp.example",
    calls: [["updateUser", { userId: 512, email: "ann@corp.example" }]],
  },
  { ask: "deactivate user 77", calls: [["updateUser", { userId: 77, active: false }]] },
  {
    ask: "shipped orders of Initech since 2026-11-01",
    calls: [["list_orders", { customer: "Initech", status: "shipped", from_date: "2026-11-01" }]],
  },
  {
    ask: "pending orders between 1 October 2026 and 15 October 2026",
    calls: [["list_orders", { status: "pending", from_date: "2026-10-01", to_date: "2026-10-15" }]],
  },
  { ask: "cancel order ORD-2207 please", calls: [["cancel_order", { order_number: "ORD-2207" }]] },
  { ask: "can I still cancel ORD-2207?", calls: [] },
  { ask: "why was ORD-2207 cancelled?", calls: [] },
  {
    ask: "I want to take vacation from 2026-12-21 to 2026-12-31",
    calls: [["vacation_request", { start: "2026-12-21", end: "2026-12-31" }]],
  },
  {
    ask: "request days off from tomorrow until Friday because of a wedding",
    calls: [["vacation_request", { start: "2026-11-17", end: "2026-11-20", reason: "of a wedding" }]],
  },
  {
    ask: "reserve Bora tomorrow at 9am for 45 minutes with ann@corp.example and bob@corp.example",
    calls: [
      [
        "room_book",
        {
          room: "Bora",
          start: "2026-11-17T09:00:00Z",
          minutes: 45,
          attendees: ["ann@corp.example", "bob@corp.example"],
        },
      ],
    ],
  },
  { ask: "book a meeting room for tomorrow at 3pm", calls: [], says: /room/i },
  {
    ask: ["book a meeting room for tomorrow at 3pm", "Cirrus"],
    calls: [["room_book", { room: "Cirrus", start: "2026-11-17T15:00:00Z" }]],
  },
  {
    ask: "print contract.pdf three times in colour, single sided",
    calls: [["print_document", { file: "contract.pdf", copies: 3, color: true, double_sided: false }]],
  },
  { ask: "print 5 copies of menu.docx", calls: [["print_document", { file: "menu.docx", copies: 5 }]] },
  { ask: "scale the lasagne recipe to 12 servings", calls: [["scale_recipe", { recipe: "lasagne", servings: 12 }]] },
  { ask: "preheat the oven to 220 degrees, grill", calls: [["oven", { celsius: 220, mode: "grill" }]] },
  { ask: "oven to 400 degrees", calls: [], says: /celsius/i },
  {
    ask: "note: the wifi password is on the fridge",
    calls: [["note_save", { text: "the wifi password is on the fridge" }]],
  },
  {
    ask: "save a pinned note in the folder work: call Peter back",
    calls: [["note_save", { text: "call Peter back", folder: "work", pinned: true }]],
  },
  { ask: "search my notes for wifi", calls: [["note_search", { query: "wifi" }]] },
  {
    ask: 'start a poll "Where do we eat?" with the options Pizza, Sushi and Tapas',
    calls: [["poll_create", { question: "Where do we eat?", options: ["Pizza", "Sushi", "Tapas"] }]],
  },
  { ask: "mx records of example.com", calls: [["dns_lookup", { domain: "example.com", type: "MX" }]] },
  {
    ask: "crop photo.jpg: x 10, y 20, width 300, height 200",
    calls: [["image_crop", { file: "photo.jpg", box: { x: 10, y: 20, width: 300, height: 200 } }]],
  },
  { ask: "what's left of 4,200 gross in DE?", calls: [["salary", { gross: 4200, country: "DE" }]] },
  { ask: "how many days until Christmas, 25 December 2026?", calls: [["countdown", { date: "2026-12-25" }]] },
  {
    ask: 'check the spelling of "Ich habe Hunger" in german',
    calls: [["spell_check", { text: "Ich habe Hunger", language: "de" }]],
  },
  {
    ask: 'schedule the job cleanup with cron "0 3 * * *"',
    calls: [["job_schedule", { name: "cleanup", cron: "0 3 * * *" }]],
  },
  {
    ask: "download https://example.com/data.zip and save it as data.zip",
    calls: [["download", { url: "https://example.com/data.zip", save_as: "data.zip" }]],
  },
  {
    ask: "cpu of web-01 in the last 2 hours",
    calls: [["metric_query", { metric: "cpu", server: "web-01", minutes: 120 }]],
  },
  {
    ask: ["cpu of web-01", "and the memory?", "and on web-02?"],
    calls: [
      ["metric_query", { metric: "cpu", server: "web-01" }],
      ["metric_query", { metric: "memory", server: "web-01" }],
      ["metric_query", { metric: "memory", server: "web-02" }],
    ],
  },
  { ask: "never print contract.pdf in colour", calls: [] },
  { ask: "unless Peter objects, cancel order ORD-1", calls: [] },
  { ask: "tell me a joke", calls: [], says: /no tool|cannot|nothing|not sure/i },
  { ask: "print it", calls: [], says: /file/i },
];

/** More requests over the example skills. */
export const officeSkillRequests: readonly RequestCase[] = [
  {
    ask: "is there anything suspicious in attachment.docx?",
    calls: viaSkill("archive-inspect", "archive-check", { archive: "attachment.docx" }),
  },
  {
    ask: 'fnv1a hash of "kitbag rocks"',
    calls: viaSkill("checksums", "digest", { text: "kitbag rocks", algorithm: "fnv1a" }),
  },
  {
    ask: "validate IBAN GB82 WEST 1234 5698 7654 32",
    calls: viaSkill("checksums", "check-number", { number: "GB82 WEST 1234 5698 7654 32", kind: "iban" }),
  },
  {
    ask: "average age per city in people.csv",
    calls: viaSkill("csv-report", "group_by", { file: "people.csv", by: ["city"], mean: ["age"] }),
  },
  {
    ask: "what did we do this year? summarize the git history since 2026-01-01",
    calls: viaSkill("git-summary", "summary", { since: "2026-01-01" }),
  },
  {
    ask: "what's the value of server.port in config.json",
    calls: viaSkill("json-query", "query", { file: "config.json", path: "server.port" }),
  },
  {
    ask: "differences between prod.json and stage.json, max 20",
    calls: viaSkill("json-query", "diff", { before: "prod.json", after: "stage.json", limit: 20 }),
  },
  {
    ask: "which shell scripts lack a license header?",
    calls: viaSkill("license-headers", "check-headers", { extensions: "sh" }),
  },
  {
    ask: "toc for manual.md with levels 2 to 4",
    calls: viaSkill("markdown-toc", "toc", { file: "manual.md", min_level: 2, max_level: 4 }),
  },
  {
    ask: "give me the text of the last chapter, pages 40-52, of book.pdf",
    calls: viaSkill("pdf-text", "extract_text", { pdf: "book.pdf", pages: "40-52" }),
  },
  {
    ask: "how many sentences are in speech.txt and which are the 10 most frequent words?",
    calls: [
      ...viaSkill("text-stats", "stats-count", { file: "speech.txt" }),
      ["text-stats__stats-words", { file: "speech.txt", top: 10 }],
    ],
  },
  {
    ask: "todo list: 1. sweep 2. mop 3. dust",
    calls: [
      ["activate_skill", { name: "task-list" }],
      ["task-list__add", { text: "sweep" }],
      ["task-list__add", { text: "mop" }],
      ["task-list__add", { text: "dust" }],
    ],
  },
];
