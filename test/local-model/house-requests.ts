import type { RequestCase } from "./request.ts";

/** Requests over the tools of a house and a small office. Today is Monday, 2026-11-16. */
export const houseRequests: readonly RequestCase[] = [
  { ask: "weather in Lisbon?", calls: [["weather-forecast", { city: "Lisbon" }]] },
  {
    ask: "Could you please tell me what the weather will be like in New York for the next 3 days, in imperial units?",
    calls: [["weather-forecast", { city: "New York", days: 3, units: "imperial" }]],
  },
  { ask: "wether forcast for berlin pls", calls: [["weather-forecast", { city: "berlin" }]] },
  { ask: "what's the weather like", calls: [], says: /city/i },
  { ask: "what is 17 * (4 + 3)?", calls: [["calculate", { expression: "17 * (4 + 3)" }]] },
  { ask: "calculate 1250 / 12", calls: [["calculate", { expression: "1250 / 12" }]] },
  { ask: "How much is 50 USD in EUR?", calls: [["convert-currency", { amount: 50, from: "USD", to: "EUR" }]] },
  { ask: "convert 1,200 swiss francs to GBP", calls: [["convert-currency", { amount: 1200, from: "CHF", to: "GBP" }]] },
  { ask: "convert 80 dollars", calls: [], says: /\bto\b|currency|into/i },
  { ask: "how many miles is 42 km", calls: [["convert-units", { value: 42, from: "km", to: "mi" }]] },
  { ask: "98.6 fahrenheit in celsius", calls: [["convert-units", { value: 98.6, from: "fahrenheit", to: "celsius" }]] },
  { ask: "convert 12 pounds to kilograms", calls: [["convert-units", { value: 12, from: "lb", to: "kg" }]] },
  {
    ask: "Remind me tomorrow to water the plants",
    calls: [["set-reminder", { text: "water the plants", date: "2026-11-17" }]],
  },
  {
    ask: "remind me to call the dentist on 2026-12-03 at 9:30",
    calls: [["set-reminder", { text: "call the dentist", date: "2026-12-03", time: "09:30" }]],
  },
  {
    ask: "Set a reminder for next Friday: pay the rent",
    calls: [["set-reminder", { text: "pay the rent", date: "2026-11-20" }]],
  },
  { ask: "remind me to buy milk", calls: [], says: /date|day|when/i },
  {
    ask: ["remind me to buy milk", "on Thursday"],
    calls: [["set-reminder", { text: "buy milk", date: "2026-11-19" }]],
  },
  {
    ask: 'Send an email to anna@example.com with the subject "Lunch" saying "Are you free at noon?"',
    calls: [["send-email", { to: "anna@example.com", subject: "Lunch", body: "Are you free at noon?" }]],
  },
  {
    ask: "email\nto: bob@acme.io\nsubject: Invoice 114\nbody: Please find the invoice attached.\ncc: kim@acme.io, lee@acme.io",
    calls: [
      [
        "send-email",
        {
          to: "bob@acme.io",
          subject: "Invoice 114",
          body: "Please find the invoice attached.",
          cc: ["kim@acme.io", "lee@acme.io"],
        },
      ],
    ],
  },
  { ask: "send an email to tom@example.org", calls: [], says: /subject/i },
  {
    ask: "find all *.log files in /var/log smaller than 500 kb",
    calls: [["find-files", { pattern: "*.log", folder: "/var/log", max_size_kb: 500 }]],
  },
  {
    ask: "search for budget-2026.xlsx in the folder reports",
    calls: [["find-files", { pattern: "budget-2026.xlsx", folder: "reports" }]],
  },
  {
    ask: "fetch https://api.example.com/v1/status",
    calls: [["http-get", { url: "https://api.example.com/v1/status" }]],
  },
  {
    ask: "GET https://example.com/old without following redirects, timeout 3 seconds",
    calls: [["http-get", { url: "https://example.com/old", timeout_ms: 3000, follow_redirects: false }]],
  },
  {
    ask: "run `SELECT count(*) FROM orders` on the sales database",
    calls: [["run-sql", { query: "SELECT count(*) FROM orders", database: "sales" }]],
  },
  { ask: 'run the query "select * from people limit 5"', calls: [], says: /database/i },
  {
    ask: ['run the query "select * from people limit 5"', "hr"],
    calls: [["run-sql", { query: "select * from people limit 5", database: "hr" }]],
  },
  { ask: "add buy stamps to my todo list", calls: [["todo-add", { title: "buy stamps" }]] },
  {
    ask: "todo: renew passport, high priority, due 2027-01-15, tags: travel, papers",
    calls: [["todo-add", { title: "renew passport", priority: "high", due: "2027-01-15", tags: ["travel", "papers"] }]],
  },
  { ask: "what's still on my to-do list?", calls: [["todo-list", {}]] },
  { ask: "show me the finished todos", calls: [["todo-list", { status: "done" }]] },
  { ask: "mark item 4 as done", calls: [["todo-complete", { id: 4 }]] },
  {
    ask: "delete todo number 7 and then show me the list",
    calls: [
      ["todo-delete", { id: 7 }],
      ["todo-list", {}],
    ],
  },
  { ask: "delete that one", calls: [], says: /which|id|what/i },
  {
    ask: 'Translate "Good morning, neighbours" into Spanish',
    calls: [["translate", { text: "Good morning, neighbours", language: "Spanish" }]],
  },
  {
    ask: "how do you say thank you very much in Japanese?",
    calls: [["translate", { text: "thank you very much", language: "Japanese" }]],
  },
  {
    ask: ['translate "the bill, please" to Italian', "and to Portuguese?"],
    calls: [
      ["translate", { text: "the bill, please", language: "Italian" }],
      ["translate", { text: "the bill, please", language: "Portuguese" }],
    ],
  },
  { ask: "start a timer for 12 minutes for the pasta", calls: [["start-timer", { minutes: 12, label: "pasta" }]] },
  { ask: "set a timer: half an hour", calls: [["start-timer", { minutes: 30 }]] },
  { ask: "timer 1.5 hours", calls: [["start-timer", { minutes: 90 }]] },
  {
    ask: "put a meeting called Budget review in the calendar on 2026-11-20 at 14:00 for 90 minutes with Ada and Ben",
    calls: [
      [
        "create-event",
        { title: "Budget review", start: "2026-11-20T14:00:00Z", duration_minutes: 90, attendees: ["Ada", "Ben"] },
      ],
    ],
  },
  { ask: "what do I have in my calendar tomorrow", calls: [["list-events", { date: "2026-11-17" }]] },
  {
    ask: ["what's in my calendar today?", "and the day after tomorrow?"],
    calls: [
      ["list-events", { date: "2026-11-16" }],
      ["list-events", { date: "2026-11-18" }],
    ],
  },
  { ask: "how many of AB-1234 do we have in the warehouse", calls: [["stock-level", { sku: "AB-1234" }]] },
  {
    ask: "book 20 pieces of XY-0042 out of the warehouse, then tell me how many are left",
    calls: [
      ["stock-adjust", { sku: "XY-0042", quantity: 20, direction: "out" }],
      ["stock-level", { sku: "XY-0042" }],
    ],
  },
  { ask: "book out 5 pieces", calls: [], says: /sku/i },
  {
    ask: "create a user Grace Hopper, grace@navy.mil, as admin, no invitation",
    calls: [["create-user", { name: "Grace Hopper", email: "grace@navy.mil", role: "admin", send_invite: false }]],
  },
  { ask: "create an account for linus@kernel.org", calls: [], says: /name/i },
  { ask: "please lock the account of mallory@evil.test", calls: [["disable-user", { email: "mallory@evil.test" }]] },
  {
    ask: "reserve a table for 4 at Luigi's tomorrow at 7pm",
    calls: [["book-table", { restaurant: "Luigi's", people: 4, date: "2026-11-17", time: "19:00" }]],
  },
  { ask: "book a table for two at the Blue Door on Saturday", calls: [], says: /time/i },
  {
    ask: "resize holiday.png to 800x600",
    calls: [["resize-image", { file: "holiday.png", size: { width: 800, height: 600 } }]],
  },
  {
    ask: "make logo.svg 64 wide and 32 high, don't keep the aspect ratio",
    calls: [["resize-image", { file: "logo.svg", size: { width: 64, height: 32 }, keep_aspect: false }]],
  },
  { ask: "restart the worker on staging", calls: [["restart-service", { service: "worker", environment: "staging" }]] },
  { ask: "restart web", calls: [], says: /environment|staging/i },
  { ask: "don't restart the database in production", calls: [] },
  {
    ask: "log 23.90 for lunch under food",
    calls: [["log-expense", { amount: 23.9, category: "food", note: "lunch" }]],
  },
  {
    ask: "I spent 140 euros on a train ticket yesterday, category travel",
    calls: [["log-expense", { amount: 140, category: "travel", note: "train ticket", date: "2026-11-15" }]],
  },
  {
    ask: "where is my parcel 1Z999AA10123456784?",
    calls: [["track-parcel", { tracking_number: "1Z999AA10123456784" }]],
  },
  {
    ask: "set the bedroom to 19 degrees and turn the lights in the kitchen off",
    calls: [
      ["set-thermostat", { room: "bedroom", celsius: 19 }],
      ["switch-lights", { room: "kitchen", state: "off" }],
    ],
  },
  {
    ask: "lights on in the living room at 40%",
    calls: [["switch-lights", { room: "living room", state: "on", brightness: 40 }]],
  },
  { ask: "turn on the light", calls: [], says: /room/i },
  { ask: "hi there!", calls: [], says: /\w/ },
  { ask: "what can you do for me?", calls: [], says: /weather/i },
  { ask: "thanks, that was great", calls: [] },
  { ask: "sing me a song about the sea", calls: [], says: /cannot|can't|no tool|nothing/i },
  { ask: "order a pizza margherita to my home", calls: [], says: /cannot|can't|no tool|nothing/i },
  { ask: "who won the world cup in 1990?", calls: [], says: /cannot|can't|no tool|nothing/i },
];
