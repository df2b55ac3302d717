import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools of a practice and its web site: patients, stock, pages, servers, trips. */
export const clinicTools: readonly ModelTool[] = [
  tool(
    "book_appointment",
    "Book an appointment for a patient with a doctor",
    {
      patient: { type: "string", description: "Full name of the patient" },
      doctor: { type: "string", description: "Last name of the doctor" },
      datetime: { type: "string", format: "date-time", description: "Start of the appointment" },
      reason: { type: "string", description: "Why the patient comes" },
    },
    ["patient", "doctor", "datetime"],
  ),
  tool(
    "cancel_appointment",
    "Cancel an appointment",
    { appointment_id: { type: "string", description: "For example APT-1042" } },
    ["appointment_id"],
  ),
  tool(
    "find_free_slots",
    "Find free slots in the calendar of a doctor",
    { doctor: text, date: { type: "string", format: "date" }, duration_minutes: { type: "integer", default: 30 } },
    ["doctor", "date"],
  ),
  tool(
    "search_patients",
    "Search patients by name or date of birth",
    { name: text, birth_date: { type: "string", format: "date" }, limit: { type: "integer", default: 20 } },
    [],
  ),
  tool(
    "check_stock",
    "Check how many units of a product are in stock",
    { product: text, warehouse: { type: "string", enum: ["main", "north", "south"] } },
    ["product"],
  ),
  tool(
    "order_supplies",
    "Order supplies from a vendor",
    {
      items: {
        type: "array",
        items: {
          type: "object",
          properties: { name: text, quantity: { type: "integer" } },
          required: ["name", "quantity"],
        },
      },
      vendor: text,
      express: { type: "boolean", default: false, description: "Deliver by tomorrow" },
    },
    ["items"],
  ),
  tool(
    "send_sms",
    "Send a text message to a phone number",
    { phone: { type: "string", description: "Phone number in international format" }, message: text },
    ["phone", "message"],
  ),
  tool(
    "publish_page",
    "Publish a page of the web site",
    {
      slug: { type: "string", description: "For example about-us" },
      notify_subscribers: { type: "boolean", default: false },
    },
    ["slug"],
  ),
  tool(
    "get_page_views",
    "Get the number of views of a page",
    { slug: text, start: { type: "string", format: "date" }, end: { type: "string", format: "date" } },
    ["slug"],
  ),
  tool(
    "check_ssl",
    "Check the SSL certificate of a domain",
    { domain: { type: "string", description: "For example example.com" } },
    ["domain"],
  ),
  tool(
    "dns_lookup",
    "Look up DNS records",
    { domain: text, type: { type: "string", enum: ["A", "AAAA", "MX", "TXT", "CNAME"], default: "A" } },
    ["domain"],
  ),
  tool(
    "restart_service",
    "Restart a service on a server",
    { service: text, host: text, graceful: { type: "boolean", default: true } },
    ["service"],
  ),
  tool("disk_usage", "Show the disk usage of a server", { host: text, path: { type: "string", default: "/" } }, [
    "host",
  ]),
  tool(
    "create_invoice",
    "Create an invoice for a customer",
    {
      customer: text,
      amount: { type: "number", exclusiveMinimum: 0 },
      currency: { type: "string", enum: ["EUR", "USD", "GBP"], default: "EUR" },
      due_days: { type: "integer", default: 30, description: "Days until it must be paid" },
      description: text,
    },
    ["customer", "amount"],
  ),
  tool(
    "list_invoices",
    "List invoices",
    {
      status: { type: "string", enum: ["draft", "sent", "paid", "overdue"] },
      customer: text,
      min_amount: { type: "number" },
    },
    [],
  ),
  tool(
    "find_trains",
    "Find train connections between two stations",
    {
      from: text,
      to: text,
      departure: { type: "string", format: "date-time" },
      first_class: { type: "boolean", default: false },
    },
    ["from", "to"],
  ),
  tool(
    "summarize_text",
    "Summarize a text",
    { text, max_sentences: { type: "integer", default: 3 }, style: { type: "string", enum: ["bullets", "paragraph"] } },
    ["text"],
  ),
  tool("count_words", "Count the words in a text or a file", { text, file: text }, []),
  tool(
    "compress_image",
    "Compress an image to make it smaller",
    {
      file: { type: "string", description: "Image file" },
      quality: { type: "integer", minimum: 1, maximum: 100, default: 80 },
    },
    ["file"],
  ),
  tool(
    "extract_archive",
    "Extract an archive into a folder",
    {
      archive: { type: "string", description: "Zip or tar file" },
      destination: { type: "string", description: "Folder" },
    },
    ["archive"],
  ),
  tool(
    "set_thermostat",
    "Set the target temperature of a room",
    { room: text, temperature_c: { type: "number", minimum: 5, maximum: 30 } },
    ["room", "temperature_c"],
  ),
  tool(
    "start_vacuum",
    "Start the robot vacuum",
    { rooms: { type: "array", items: text, description: "Rooms to clean" } },
    [],
  ),
  tool("get_air_quality", "Get the air quality index of a city", { city: text }, ["city"]),
  tool(
    "roll_dice",
    "Roll dice",
    { count: { type: "integer", default: 1 }, sides: { type: "integer", default: 6 } },
    [],
  ),
  tool(
    "days_between",
    "Count the days between two dates",
    { start: { type: "string", format: "date" }, end: { type: "string", format: "date" } },
    ["start", "end"],
  ),
];
