import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the tools of a depot. Today is Monday, 2026-11-16. */
export const depotRequests: readonly RequestCase[] = [
  {
    ask: "thumbnail of cover.png, 320x200",
    calls: [["make_thumbnail", { image: "cover.png", width: 320, height: 200 }]],
  },
  {
    ask: "make a 150 pixel wide thumbnail of team.jpg",
    calls: [["make_thumbnail", { image: "team.jpg", width: 150 }]],
  },
  { ask: "lay out labels 3 x 8", calls: [["make_labels", { columns: 3, rows: 8 }]] },
  {
    ask: 'a 4x10 sheet of labels that say "Fragile"',
    calls: [["make_labels", { columns: 4, rows: 10, text: "Fragile" }]],
  },
  {
    ask: "I'd like a luxury rental car from Munich on 2027-02-10",
    calls: [["rent_car", { pickup: "Munich", date: "2027-02-10", category: "luxury" }]],
  },
  {
    ask: ["I need a rental van", "in Hamburg on December 3, 2026"],
    calls: [["rent_car", { pickup: "Hamburg", date: "2026-12-03", category: "van" }]],
  },
  {
    ask: "first class train connections from Basel SBB to Milano on 5 December 2026",
    calls: [
      ["find_trains", { from_station: "Basel SBB", to_station: "Milano", date: "2026-12-05", travel_class: "first" }],
    ],
  },
  {
    ask: ["trains to Vienna", "from Linz, second class"],
    calls: [["find_trains", { from_station: "Linz", to_station: "Vienna", travel_class: "second" }]],
  },
  { ask: "pace for 10 km in 52 minutes", calls: [["running_pace", { distance_km: 10, duration_minutes: 52 }]] },
  {
    ask: "what pace is 1500 m in half an hour?",
    calls: [["running_pace", { distance_km: 1.5, duration_minutes: 30 }]],
  },
  { ask: "compute my pace for 45 minutes", calls: [], says: /distance/i },
  {
    ask: "what does it cost to ship a 2.5 kg parcel to Norway?",
    calls: [["shipping_cost", { weight_g: 2500, country: "Norway" }]],
  },
  {
    ask: "shipping cost for 800 g, 1.2 m long, to Spain",
    calls: [["shipping_cost", { weight_g: 800, length_cm: 120, country: "Spain" }]],
  },
  { ask: "set the quota of kim to 2 GB", calls: [["set_quota", { user: "kim", quota_mb: 2000 }]] },
  { ask: "who is customer 90210?", calls: [["find_customer", { number: 90210 }]] },
  { ask: "which customer has +49 30 1234567?", calls: [["find_customer", { phone: "+49 30 1234567" }]] },
  { ask: "find customer Jane Miller", calls: [["find_customer", { name: "Jane Miller" }]] },
  {
    ask: 'phone +44 20 7946 0958 with the message "Your parcel is here"',
    calls: [["call_customer", { phone: "+44 20 7946 0958", message: "Your parcel is here" }]],
  },
  {
    ask: 'ring +1 555 010 7788 and say "We open at nine"',
    calls: [["call_customer", { phone: "+1 555 010 7788", message: "We open at nine" }]],
  },
  { ask: "where is PX-445566?", calls: [["track_parcel", { tracking: "PX-445566" }]] },
  {
    ask: "track PX-1001 and PX-1002",
    calls: [
      ["track_parcel", { tracking: "PX-1001" }],
      ["track_parcel", { tracking: "PX-1002" }],
    ],
  },
  {
    ask: "what are the tides in Bremen, and in Kiel?",
    calls: [
      ["get_tides", { harbour: "Bremen" }],
      ["get_tides", { harbour: "Kiel" }],
    ],
  },
  {
    ask: 'put "packing tape" and "bubble wrap" on the shopping list',
    calls: [
      ["add_article", { article: "packing tape" }],
      ["add_article", { article: "bubble wrap" }],
    ],
  },
  { ask: 'add 12 "pallets" to the shopping list', calls: [["add_article", { article: "pallets", quantity: 12 }]] },
  {
    ask: 'how many of "M8 bolts" do we have in stock?',
    calls: [["stock_level", { article: "M8 bolts" }]],
  },
  {
    ask: ["tides in Dover", "and tomorrow?"],
    calls: [
      ["get_tides", { harbour: "Dover" }],
      ["get_tides", { harbour: "Dover", date: "2026-11-17" }],
    ],
  },
  {
    ask: ['stock of "gloves"', "and tomorrow?"],
    calls: [["stock_level", { article: "gloves" }]],
    says: /tomorrow|no (?:parameter|date)|cannot/i,
  },
  {
    ask: "major incidents in the last 7 days",
    calls: [["list_incidents", { since: "2026-11-09", severity: "major" }]],
  },
  { ask: "incidents since last Monday", calls: [["list_incidents", { since: "2026-11-09" }]] },
  {
    ask: "schedule a pickup of 6 parcels for January 5",
    calls: [["schedule_pickup", { date: "2027-01-05", parcels: 6 }]],
  },
  { ask: "schedule a pickup", calls: [], says: /date/i },
  { ask: "assign worker 17 to the night shift", calls: [["assign_shift", { worker: 17, shift: "night" }]] },
  { ask: "assign Bob to the late shift", calls: [], says: /worker/i },
  { ask: "start a timer for 3 minutes", calls: [["start_timer", { seconds: 180 }]] },
  { ask: "start a timer of 2 kg", calls: [], says: /seconds/i },
  { ask: "do I have to schedule a pickup on 2026-12-01?", calls: [] },
  { ask: "paint the depot blue", calls: [], says: /no tool|nothing|not sure|cannot/i },
];

/** Requests over the example skills. */
export const depotSkillRequests: readonly RequestCase[] = [
  {
    ask: "remind me to water the plants on Friday",
    calls: viaSkill("task-list", "add", { text: "water the plants on Friday" }),
  },
  {
    ask: ["add task pay rent", "mark pay rent as done"],
    calls: viaSkill("task-list", "add", { text: "pay rent" }),
    says: /number/i,
  },
  {
    ask: "extract notes.zip",
    calls: [["activate_skill", { name: "archive-inspect" }]],
    says: /entry/i,
  },
  {
    ask: "database.host in settings.json",
    calls: viaSkill("json-query", "query", { file: "settings.json", path: "database.host" }),
  },
];
