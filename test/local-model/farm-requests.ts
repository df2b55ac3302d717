import { viaSkill, type RequestCase } from "./request.ts";

/** Requests over the tools of a farm. Today is Monday, 2026-11-16. */
export const farmRequests: readonly RequestCase[] = [
  { ask: "crop barn.png to 640 x 480", calls: [["crop_photo", { photo: "barn.png", w: 640, h: 480 }]] },
  {
    ask: "crop cow.jpg, 300x300, centered",
    calls: [["crop_photo", { photo: "cow.jpg", w: 300, h: 300, centered: true }]],
  },
  {
    ask: "plan a bed of carrots with 6 rows, 30 cm spacing",
    calls: [["plant_bed", { vegetable: "carrots", rows: 6, spacing_cm: 30 }]],
  },
  {
    ask: "I want an outside cabin on a ferry from Kiel to Oslo on 2027-06-01",
    calls: [["find_ferry", { departure_port: "Kiel", arrival_port: "Oslo", date: "2027-06-01", cabin: "outside" }]],
  },
  {
    ask: ["ferries from Genoa", "to Palermo on June 3, 2027, inside"],
    calls: [["find_ferry", { departure_port: "Genoa", arrival_port: "Palermo", date: "2027-06-03", cabin: "inside" }]],
  },
  {
    ask: ["when does the sun set in Bergen?", "and tomorrow?", "and in Tromsø?"],
    calls: [
      ["get_sunset", { town: "Bergen" }],
      ["get_sunset", { town: "Bergen", date: "2026-11-17" }],
      ["get_sunset", { town: "Tromsø", date: "2026-11-17" }],
    ],
  },
  {
    ask: ["price of eggs in Ghent", "and on Friday?"],
    calls: [["egg_price", { market: "Ghent" }]],
    says: /no parameter|cannot/i,
  },
  {
    ask: "what do eggs cost in Lyon and in Nantes?",
    calls: [
      ["egg_price", { market: "Lyon" }],
      ["egg_price", { market: "Nantes" }],
    ],
  },
  {
    ask: "when is sunset in Cork, Galway and Sligo?",
    calls: [
      ["get_sunset", { town: "Cork" }],
      ["get_sunset", { town: "Galway" }],
      ["get_sunset", { town: "Sligo" }],
    ],
  },
  { ask: "dose of Ivermectin for 450 kg", calls: [["dose", { weight_kg: 450, medicine: "Ivermectin" }]] },
  { ask: 'dose of "Panacur" for a goat of 62000 g', calls: [["dose", { weight_kg: 62, medicine: "Panacur" }]] },
  {
    ask: "volume of a tank with a radius of 150 cm and a depth of 2 m",
    calls: [["tank_volume", { radius_m: 1.5, depth_cm: 200 }]],
  },
  { ask: "set the greenhouse to 68 fahrenheit", calls: [["set_heating", { target_celsius: 20 }]] },
  { ask: "set the greenhouse to 20 kg", calls: [], says: /celsius/i },
  { ask: "water the north field for half an hour", calls: [["irrigate", { field: "north", duration_min: 30 }]] },
  { ask: "irrigate the orchard", calls: [], says: /duration_min/i },
  { ask: "find the animal with tag DE-8812", calls: [["find_animal", { tag: "DE-8812" }]] },
  { ask: "find the goat Heidi", calls: [["find_animal", { name: "Heidi", kind: "goat" }]] },
  { ask: "show me invoice 20317", calls: [["get_invoice", { id: 20317 }]] },
  { ask: "invoice for kim@example.com", calls: [["get_invoice", { customer_email: "kim@example.com" }]] },
  {
    ask: 'fax +49 431 555 0199: "20 bags of seed please"',
    calls: [["fax_order", { number: "+49 431 555 0199", text: "20 bags of seed please" }]],
  },
  {
    ask: "reserve a room for Ada Lovelace from February 3 for 2 nights",
    calls: [["reserve_room", { guest: "Ada Lovelace", from: "2027-02-03", nights: 2 }]],
  },
  {
    ask: ["reserve a room for Bob Hope", "from 2026-12-01, 3 nights"],
    calls: [["reserve_room", { guest: "Bob Hope", from: "2026-12-01", nights: 3 }]],
  },
  { ask: "milk report of the last 2 weeks", calls: [["milk_report", { since: "2026-11-02" }]] },
  { ask: "how much milk was given since March 1?", calls: [["milk_report", { since: "2026-03-01" }]] },
  {
    ask: 'add the chores "mend the fence" and "clean the stable"',
    calls: [
      ["add_chore", { chore: "mend the fence" }],
      ["add_chore", { chore: "clean the stable" }],
    ],
  },
  { ask: "close the gate by the river", calls: [], says: /gate_number/i },
  { ask: "read the sheet of letter.pdf", calls: [], says: /no tool|not sure|nothing|cannot/i },
];

/** Requests over the example skills. */
export const farmSkillRequests: readonly RequestCase[] = [
  {
    ask: ["shape of data.json", "what is the average price in sales.csv per shop?"],
    calls: [
      ...viaSkill("json-query", "shape", { file: "data.json" }),
      ...viaSkill("csv-report", "group_by", { file: "sales.csv", by: ["shop"], mean: ["price"] }),
    ],
  },
  {
    ask: "in package.json, what is scripts.build?",
    calls: viaSkill("json-query", "query", { file: "package.json", path: "scripts.build" }),
  },
];
