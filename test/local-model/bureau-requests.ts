import type { RequestCase } from "./request.ts";

/** Requests for mail, dates, tickets, files and notes, written down before the model was tried on them. */
export const bureauRequests: readonly RequestCase[] = [
  {
    ask: "schedule a dentist appointment on December 3 at 9:30",
    calls: [["create_event", { title: "dentist appointment", start: "2026-12-03T09:30:00Z" }]],
  },
  {
    ask: 'Create an event called "Budget review" tomorrow at 2 pm with ana@example.com and joe@example.com',
    calls: [
      [
        "create_event",
        { title: "Budget review", start: "2026-11-17T14:00:00Z", attendees: ["ana@example.com", "joe@example.com"] },
      ],
    ],
  },
  { ask: "put lunch with Maria in my calendar", calls: [], says: /`start`/u },
  {
    ask: "what's on my calendar between 2026-12-01 and 2026-12-05?",
    calls: [["list_events", { start_date: "2026-12-01", end_date: "2026-12-05" }]],
  },
  { ask: "show my next 5 calendar events", calls: [["list_events", { max_results: 5 }]] },
  {
    ask: 'email kim@example.com, subject "Invoice", saying "The invoice is attached."',
    calls: [["send_email", { to: ["kim@example.com"], subject: "Invoice", body: "The invoice is attached." }]],
  },
  { ask: "send an email to kim@example.com", calls: [], says: /`subject`/u },
  { ask: "did kim@example.com send me an email?", calls: [["search_emails", { from: "kim@example.com" }]] },
  { ask: "any unread emails from Peter?", calls: [["search_emails", { from: "Peter", unread_only: true }]] },
  { ask: "search my mailbox for flight confirmation", calls: [["search_emails", { query: "flight confirmation" }]] },
  {
    ask: "open a high priority issue in project WEB: the login button does nothing",
    calls: [["create_issue", { project: "WEB", summary: "the login button does nothing", priority: "high" }]],
  },
  {
    ask: 'create an issue in OPS with the summary "Disk is full" and assign it to mara',
    calls: [["create_issue", { project: "OPS", summary: "Disk is full", assignee: "mara" }]],
  },
  { ask: "what's the status of OPS-42?", calls: [["get_issue", { key: "OPS-42" }]] },
  {
    ask: "show me WEB-7 and WEB-9",
    calls: [
      ["get_issue", { key: "WEB-7" }],
      ["get_issue", { key: "WEB-9" }],
    ],
  },
  { ask: "move OPS-42 to in review", calls: [["transition_issue", { key: "OPS-42", status: "in_review" }]] },
  { ask: "mark WEB-7 as done", calls: [["transition_issue", { key: "WEB-7", status: "done" }]] },
  { ask: "is WEB-7 done?", calls: [["get_issue", { key: "WEB-7" }]] },
  { ask: "find all *.test.ts files in src", calls: [["search_files", { path: "src", pattern: "*.test.ts" }]] },
  {
    ask: "search /home/ana/docs for pdf files",
    calls: [["search_files", { path: "/home/ana/docs", pattern: "*.pdf" }]],
  },
  { ask: "show me the first 20 lines of server.log", calls: [["read_text_file", { path: "server.log", head: 20 }]] },
  {
    ask: "last 50 lines of /var/log/syslog please",
    calls: [["read_text_file", { path: "/var/log/syslog", tail: 50 }]],
  },
  { ask: "what does config/app.yml say?", calls: [["read_text_file", { path: "config/app.yml" }]] },
  {
    ask: "move report.pdf to archive/report-2026.pdf",
    calls: [["move_file", { source: "report.pdf", destination: "archive/report-2026.pdf" }]],
  },
  { ask: "rename notes.txt", calls: [], says: /`destination`/u },
  { ask: "show the last 3 commits by Ada", calls: [["git_log", { max_count: 3, author: "Ada" }]] },
  { ask: "what was committed since 2026-11-01?", calls: [["git_log", { since: "2026-11-01" }]] },
  {
    ask: "create a branch fix/login from develop",
    calls: [["git_create_branch", { branch_name: "fix/login", base_branch: "develop" }]],
  },
  { ask: "start a new branch called release-2", calls: [["git_create_branch", { branch_name: "release-2" }]] },
  { ask: "which columns does the table orders have?", calls: [["describe_table", { table: "orders" }]] },
  { ask: "describe the customers table", calls: [["describe_table", { table: "customers" }]] },
  { ask: "will it rain in Port of Spain this week?", calls: [["get_forecast", { location: "Port of Spain" }]] },
  {
    ask: "weather forecast for Trinidad and Tobago for the next 5 days",
    calls: [["get_forecast", { location: "Trinidad and Tobago", days: 5 }]],
  },
  {
    ask: "7 day forecast for Denver in imperial units",
    calls: [["get_forecast", { location: "Denver", days: 7, units: "imperial" }]],
  },
  {
    ask: "how much is 250 dollars in euros?",
    calls: [["convert_currency", { amount: 250, from_currency: "USD", to_currency: "EUR" }]],
  },
  {
    ask: "convert 1,200.50 GBP to JPY",
    calls: [["convert_currency", { amount: 1200.5, from_currency: "GBP", to_currency: "JPY" }]],
  },
  { ask: "what are 80 francs worth?", calls: [], says: /`to_currency`/u },
  {
    ask: "set a timer for 12 minutes for the pasta",
    calls: [["set_timer", { duration_seconds: 720, label: "pasta" }]],
  },
  { ask: "timer 1 hour 30 minutes", calls: [["set_timer", { duration_seconds: 5400 }]] },
  { ask: "turn off the light in the hallway", calls: [["control_light", { room: "hallway", state: "off" }]] },
  { ask: "dim the bedroom light to 30%", calls: [["control_light", { room: "bedroom", brightness: 30 }]] },
  { ask: "is the kitchen light on?", calls: [] },
  {
    ask: 'make a note titled "Wifi" that says "password is on the router"',
    calls: [["create_note", { title: "Wifi", content: "password is on the router" }]],
  },
  {
    ask: "note: water the ficus, tags home and plants",
    calls: [["create_note", { content: "water the ficus", tags: ["home", "plants"] }]],
  },
  { ask: "who is our contact at Globex?", calls: [["find_contacts", { company: "Globex" }]] },
  { ask: "look up Jane Miller in the CRM", calls: [["find_contacts", { name: "Jane Miller" }]] },
  {
    ask: "resize photo.jpg to 800x600 and save it as small.jpg",
    calls: [["resize_image", { input_path: "photo.jpg", output_path: "small.jpg", width: 800, height: 600 }]],
  },
  { ask: "make logo.png 120 pixels wide", calls: [["resize_image", { input_path: "logo.png", width: 120 }]] },
  {
    ask: 'what is "thank you very much" in Portuguese?',
    calls: [["translate", { text: "thank you very much", target_language: "Portuguese" }]],
  },
  {
    ask: "translate from German to English: Wo ist der Bahnhof?",
    calls: [["translate", { text: "Wo ist der Bahnhof?", target_language: "English", source_language: "German" }]],
  },
  {
    ask: "GET https://api.example.com/health",
    calls: [["http_request", { url: "https://api.example.com/health", method: "GET" }]],
  },
  {
    ask: 'POST {"name":"Ann"} to https://api.example.com/users',
    calls: [["http_request", { url: "https://api.example.com/users", method: "POST", body: '{"name":"Ann"}' }]],
  },
  { ask: "how many feet are 3 meters?", calls: [["convert_units", { value: 3, from: "meters", to: "feet" }]] },
  { ask: "what's 72 kg in pounds", calls: [["convert_units", { value: 72, from: "kg", to: "pounds" }]] },
  {
    ask: "what is the median of 4, 8, 15, 16 and 23?",
    calls: [["describe_numbers", { numbers: [4, 8, 15, 16, 23], statistic: "median" }]],
  },
  { ask: "average of 3, 4 and 8", calls: [["describe_numbers", { numbers: [3, 4, 8], statistic: "mean" }]] },
  {
    ask: "convert the text user account id to snake case",
    calls: [["change_case", { text: "user account id", case: "snake" }]],
  },
  {
    ask: "get the weather in Oslo and then set a timer for 5 minutes",
    calls: [
      ["get_forecast", { location: "Oslo" }],
      ["set_timer", { duration_seconds: 300 }],
    ],
  },
  {
    ask: "1. turn on the light in the office 2. set a timer for 25 minutes 3. show my calendar for today",
    calls: [
      ["control_light", { room: "office", state: "on" }],
      ["set_timer", { duration_seconds: 1500 }],
      ["list_events", { start_date: "2026-11-16", end_date: "2026-11-16" }],
    ],
  },
  { ask: "don't send anything to kim@example.com yet", calls: [] },
  { ask: "how are you feeling today?", calls: [] },
];
