import type { RequestCase } from "./request.ts";

/** Requests of a harbour office, written down before the model was tried on them. */
export const harbourRequests: readonly RequestCase[] = [
  { ask: "give me information about the ship with IMO 9074729", calls: [["get_ship", { imo: "9074729" }]] },
  { ask: "which ships arrive tomorrow?", calls: [["list_arrivals", { date: "2026-11-17" }]] },
  {
    ask: "list the arrivals at the cruise terminal on November 20",
    calls: [["list_arrivals", { date: "2026-11-20", terminal: "cruise" }]],
  },
  { ask: "show the next 10 arrivals", calls: [["list_arrivals", { limit: 10 }]] },
  { ask: "assign berth B12 to the Aurora", calls: [["assign_berth", { ship: "Aurora", berth: "B12" }]] },
  { ask: "assign berth B7 to Sea Breeze", calls: [["assign_berth", { ship: "Sea Breeze", berth: "B7" }]] },
  { ask: "which berth was assigned to the Aurora?", calls: [] },
  { ask: "assign a berth to the Aurora", calls: [], says: /`berth`/u },
  { ask: "tide table for Dover", calls: [["get_tide", { port: "Dover" }]] },
  {
    ask: "when is high tide in Saint Malo on Sunday?",
    calls: [["get_tide", { port: "Saint Malo", date: "2026-11-22" }]],
  },
  {
    ask: "create an urgent work order: replace the lamp on pier 3",
    calls: [["create_work_order", { title: "replace the lamp on pier 3", priority: "urgent" }]],
  },
  {
    ask: 'create a work order titled "Fix crane 4" due 2026-12-01 and notify tom@example.com',
    calls: [["create_work_order", { title: "Fix crane 4", due_date: "2026-12-01", notify: ["tom@example.com"] }]],
  },
  { ask: "work order 88 is done", calls: [["complete_work_order", { id: 88 }]] },
  { ask: "mark work order 12 as completed", calls: [["complete_work_order", { id: 12 }]] },
  { ask: "is work order 12 completed?", calls: [] },
  { ask: "search the documents for ballast water", calls: [["search_documents", { query: "ballast water" }]] },
  {
    ask: "find documents about dredging by Olsen from 2024",
    calls: [["search_documents", { query: "dredging", filters: { author: "Olsen", year: 2024 } }]],
  },
  { ask: "delete DOC-311", calls: [["delete_document", { document_id: "DOC-311" }]] },
  { ask: "we don't need DOC-311 any more", calls: [] },
  { ask: "delete the old documents", calls: [], says: /`document_id`/u },
  {
    ask: "tell the Aurora that berth B12 is free",
    calls: [["radio_message", { ship: "Aurora", message: "berth B12 is free" }]],
  },
  {
    ask: 'send a radio message to Sea Breeze: "Wait outside"',
    calls: [["radio_message", { ship: "Sea Breeze", message: "Wait outside" }]],
  },
  { ask: "what VHF channels are there?", calls: [["vhf_channels", {}]] },
  { ask: "how is crane 7 doing?", calls: [["crane_status", { crane: 7 }]] },
  { ask: "status of crane 3 please", calls: [["crane_status", { crane: 3 }]] },
  { ask: "stop crane 7", calls: [["stop_crane", { crane: 7 }]] },
  { ask: "why did crane 7 stop?", calls: [] },
  { ask: "stop all cranes", calls: [] },
  { ask: "stop crane 7 when the Aurora has left", calls: [] },
  {
    ask: "how much duty is due on goods worth 12,000 euros from Japan?",
    calls: [["customs_duty", { value: 12000, country: "Japan" }]],
  },
  {
    ask: "customs duty for 500 from Bosnia and Herzegovina",
    calls: [["customs_duty", { value: 500, country: "Bosnia and Herzegovina" }]],
  },
  { ask: "convert 18 knots to km/h", calls: [["convert_speed", { speed: 18, from_unit: "knots", to_unit: "km/h" }]] },
  { ask: "what's 60 mph in knots?", calls: [["convert_speed", { speed: 60, from_unit: "mph", to_unit: "knots" }]] },
  { ask: "how far is it from Rotterdam to Oslo?", calls: [["distance", { from: "Rotterdam", to: "Oslo" }]] },
  { ask: "distance between Genoa and Barcelona", calls: [["distance", { from: "Genoa", to: "Barcelona" }]] },
  { ask: "who works tonight?", calls: [["roster", { day: "2026-11-16", shift: "night" }]] },
  { ask: "who has the early shift on Friday?", calls: [["roster", { day: "2026-11-20", shift: "early" }]] },
  {
    ask: "swap the shifts of Ingrid and Pavel on Saturday",
    calls: [["swap_shift", { employee: "Ingrid", with: "Pavel", day: "2026-11-21" }]],
  },
  {
    ask: "I want to take December 21 to December 23 off",
    calls: [["request_leave", { from: "2026-12-21", to: "2026-12-23" }]],
  },
  {
    ask: "request leave from 2026-12-21 to 2026-12-30 because of a wedding",
    calls: [["request_leave", { from: "2026-12-21", to: "2026-12-30", reason: "a wedding" }]],
  },
  { ask: "open the east gate", calls: [["set_gate", { gate: "east", open: true }]] },
  { ask: "please close the main gate", calls: [["set_gate", { gate: "main", open: false }]] },
  { ask: "is the west gate open?", calls: [] },
  { ask: "open the gate", calls: [], says: /`gate`/u },
  { ask: "take a snapshot with cam-04 in 4k", calls: [["camera_snapshot", { camera: "cam-04", resolution: "4k" }]] },
  { ask: "how strong is the wind at Pier West?", calls: [["wind", { station: "Pier West" }]] },
  {
    ask: 'announce "The ferry is late" twice',
    calls: [["play_announcement", { text: "The ferry is late", repeat: 2 }]],
  },
  {
    ask: "play an announcement: boarding starts now",
    calls: [["play_announcement", { text: "boarding starts now" }]],
  },
  { ask: "read the text in label.png", calls: [["ocr_image", { file: "label.png" }]] },
  { ask: "can you reach 10.0.0.7?", calls: [["ping_host", { host: "10.0.0.7" }]] },
  { ask: "ping db.example.com 10 times", calls: [["ping_host", { host: "db.example.com", count: 10 }]] },
  { ask: "show the last 20 lines of gate.log", calls: [["tail_log", { file: "gate.log", lines: 20 }]] },
  {
    ask: "stop crane 2 and then close the west gate",
    calls: [
      ["stop_crane", { crane: 2 }],
      ["set_gate", { gate: "west", open: false }],
    ],
  },
  {
    ask: "status of crane 1 and crane 5",
    calls: [
      ["crane_status", { crane: 1 }],
      ["crane_status", { crane: 5 }],
    ],
  },
  {
    ask: ["tide table for Dover", "what about Calais?"],
    calls: [
      ["get_tide", { port: "Dover" }],
      ["get_tide", { port: "Calais" }],
    ],
  },
  { ask: ["stop the crane", "5"], calls: [["stop_crane", { crane: 5 }]] },
  { ask: "don't open the main gate", calls: [] },
  { ask: "if it gets windy, close the main gate", calls: [] },
  { ask: "what a lovely ship", calls: [] },
  { ask: "hi", calls: [] },
];
