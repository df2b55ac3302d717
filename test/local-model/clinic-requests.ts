import type { RequestCase } from "./request.ts";

/** Requests of a practice, written down before the model was tried on them. */
export const clinicRequests: readonly RequestCase[] = [
  {
    ask: "book an appointment for Nora Lind with Dr. Weber on November 23 at 10:15",
    calls: [["book_appointment", { patient: "Nora Lind", doctor: "Weber", datetime: "2026-11-23T10:15:00Z" }]],
  },
  { ask: "book an appointment with Dr. Weber", calls: [], says: /`patient`/u },
  { ask: "cancel APT-1042", calls: [["cancel_appointment", { appointment_id: "APT-1042" }]] },
  { ask: "please cancel appointment APT-7", calls: [["cancel_appointment", { appointment_id: "APT-7" }]] },
  { ask: "I can't make it to APT-1042", calls: [] },
  {
    ask: "when is Weber free on Thursday?",
    calls: [["find_free_slots", { doctor: "Weber", date: "2026-11-19" }]],
  },
  {
    ask: "find a free 45 minute slot with Keller tomorrow",
    calls: [["find_free_slots", { doctor: "Keller", date: "2026-11-17", duration_minutes: 45 }]],
  },
  { ask: "search for the patient Omar Haddad", calls: [["search_patients", { name: "Omar Haddad" }]] },
  { ask: "which patients were born on 1984-03-12?", calls: [["search_patients", { birth_date: "1984-03-12" }]] },
  { ask: "how many gloves are in stock?", calls: [["check_stock", { product: "gloves" }]] },
  {
    ask: "check the stock of bandages in the north warehouse",
    calls: [["check_stock", { product: "bandages", warehouse: "north" }]],
  },
  {
    ask: "order 20 boxes of masks from Medline",
    calls: [["order_supplies", { items: [{ name: "boxes of masks", quantity: 20 }], vendor: "Medline" }]],
  },
  { ask: "order supplies", calls: [], says: /`items`/u },
  {
    ask: 'send an SMS to +49 170 1234567: "Your results are here"',
    calls: [["send_sms", { phone: "+49 170 1234567", message: "Your results are here" }]],
  },
  {
    ask: "text +49 170 1234567 that the appointment is moved to 3 pm",
    calls: [["send_sms", { phone: "+49 170 1234567", message: "the appointment is moved to 3 pm" }]],
  },
  { ask: "publish the page opening-hours", calls: [["publish_page", { slug: "opening-hours" }]] },
  {
    ask: "publish about-us and notify the subscribers",
    calls: [["publish_page", { slug: "about-us", notify_subscribers: true }]],
  },
  { ask: "was the page about-us published?", calls: [] },
  { ask: "how many views did the page pricing get?", calls: [["get_page_views", { slug: "pricing" }]] },
  {
    ask: "views of the page pricing last week",
    calls: [["get_page_views", { slug: "pricing", start: "2026-11-09", end: "2026-11-15" }]],
  },
  {
    ask: "is the ssl certificate of shop.example.com still valid?",
    calls: [["check_ssl", { domain: "shop.example.com" }]],
  },
  { ask: "MX records of example.org", calls: [["dns_lookup", { domain: "example.org", type: "MX" }]] },
  { ask: "restart nginx on web-3", calls: [["restart_service", { service: "nginx", host: "web-3" }]] },
  { ask: "should we restart nginx?", calls: [] },
  { ask: "how full is the disk of db-1?", calls: [["disk_usage", { host: "db-1" }]] },
  { ask: "disk usage of /var on db-2", calls: [["disk_usage", { host: "db-2", path: "/var" }]] },
  {
    ask: "create an invoice for Hooli over 1,250 dollars, due in 14 days",
    calls: [["create_invoice", { customer: "Hooli", amount: 1250, currency: "USD", due_days: 14 }]],
  },
  {
    ask: "invoice Initech 300 euros for consulting",
    calls: [["create_invoice", { customer: "Initech", amount: 300, currency: "EUR", description: "consulting" }]],
  },
  { ask: "which invoices are overdue?", calls: [["list_invoices", { status: "overdue" }]] },
  {
    ask: "show paid invoices of Hooli over 500",
    calls: [["list_invoices", { status: "paid", customer: "Hooli", min_amount: 500 }]],
  },
  {
    ask: "trains from Zurich to Milan tomorrow at 8:00",
    calls: [["find_trains", { from: "Zurich", to: "Milan", departure: "2026-11-17T08:00:00Z" }]],
  },
  {
    ask: "find me a first class train from Stratford upon Avon to London",
    calls: [["find_trains", { from: "Stratford upon Avon", to: "London", first_class: true }]],
  },
  { ask: "trains to Vienna", calls: [], says: /`from`/u },
  {
    ask: 'summarize this as bullets: "The patient slept well. No fever. Appetite is back."',
    calls: [["summarize_text", { text: "The patient slept well. No fever. Appetite is back.", style: "bullets" }]],
  },
  {
    ask: 'summarize in 2 sentences: "It rained. We stayed home. We played cards. It was fun."',
    calls: [["summarize_text", { text: "It rained. We stayed home. We played cards. It was fun.", max_sentences: 2 }]],
  },
  { ask: "how many words are in report.txt?", calls: [["count_words", { file: "report.txt" }]] },
  { ask: "make scan.png smaller", calls: [["compress_image", { file: "scan.png" }]] },
  { ask: "compress hero.jpg with quality 60", calls: [["compress_image", { file: "hero.jpg", quality: 60 }]] },
  {
    ask: "extract backup.zip into restore/",
    calls: [["extract_archive", { archive: "backup.zip", destination: "restore/" }]],
  },
  { ask: "unpack data.tar.gz", calls: [["extract_archive", { archive: "data.tar.gz" }]] },
  {
    ask: "set the waiting room to 22 degrees",
    calls: [["set_thermostat", { room: "waiting room", temperature_c: 22 }]],
  },
  { ask: "it's too cold in the waiting room", calls: [] },
  { ask: "set the lab to 72 °F", calls: [["set_thermostat", { room: "lab", temperature_c: 22.22222222 }]] },
  { ask: "vacuum the kitchen and the hall", calls: [["start_vacuum", { rooms: ["kitchen", "hall"] }]] },
  { ask: "start the vacuum", calls: [["start_vacuum", {}]] },
  { ask: "don't start the vacuum", calls: [] },
  { ask: "start the vacuum every Monday", calls: [] },
  { ask: "how is the air in Mexico City?", calls: [["get_air_quality", { city: "Mexico City" }]] },
  {
    ask: "air quality in Oslo and in Bergen",
    calls: [
      ["get_air_quality", { city: "Oslo" }],
      ["get_air_quality", { city: "Bergen" }],
    ],
  },
  { ask: "roll 3 dice with 20 sides", calls: [["roll_dice", { count: 3, sides: 20 }]] },
  { ask: "roll a die", calls: [["roll_dice", {}]] },
  {
    ask: "how many days from today until Christmas 2026-12-25?",
    calls: [["days_between", { start: "2026-11-16", end: "2026-12-25" }]],
  },
  {
    ask: "days between March 1, 2026 and April 15, 2026",
    calls: [["days_between", { start: "2026-03-01", end: "2026-04-15" }]],
  },
  {
    ask: "check the stock of masks and then restart the service printer",
    calls: [
      ["check_stock", { product: "masks" }],
      ["restart_service", { service: "printer" }],
    ],
  },
  {
    ask: "is the disk of db-1 full, and is the certificate of example.com valid?",
    calls: [
      ["disk_usage", { host: "db-1" }],
      ["check_ssl", { domain: "example.com" }],
    ],
  },
  {
    ask: ["trains from Basel to Chur", "and tomorrow at 9:00?"],
    calls: [
      ["find_trains", { from: "Basel", to: "Chur" }],
      ["find_trains", { from: "Basel", to: "Chur", departure: "2026-11-17T09:00:00Z" }],
    ],
  },
  { ask: ["set the thermostat to 21", "the lab"], calls: [["set_thermostat", { room: "lab", temperature_c: 21 }]] },
  { ask: "delete all invoices", calls: [] },
  { ask: "tell me a joke about doctors", calls: [] },
  { ask: "hello there", calls: [] },
];
