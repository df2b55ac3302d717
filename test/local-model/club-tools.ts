import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of a sports club, a shop and a blog, as different people write them. */
export const clubTools: readonly ModelTool[] = [
  tool(
    "members_search",
    "Search club members",
    { query: { type: "string", description: "name or part of it" }, active_only: { type: "boolean", default: false } },
    ["query"],
  ),
  tool(
    "members_add",
    "Register a new club member",
    {
      first_name: { type: "string" },
      last_name: { type: "string" },
      birth_date: { type: "string", format: "date" },
      membership: { type: "string", enum: ["junior", "adult", "senior"] },
    },
    ["first_name", "last_name", "membership"],
  ),
  tool("members_remove", "Remove a member from the club", { member_id: { type: "integer" } }, ["member_id"]),
  tool(
    "court_book",
    "Book a tennis court",
    {
      court: { type: "integer", minimum: 1, maximum: 6 },
      date: { type: "string", format: "date" },
      start_time: { type: "string", description: "HH:MM" },
      hours: { type: "number", default: 1 },
    },
    ["court", "date", "start_time"],
  ),
  tool(
    "court_availability",
    "Shows which tennis courts are free on a day",
    { date: { type: "string", format: "date" } },
    ["date"],
  ),
  tool(
    "invoice_create",
    "Creates an invoice for a customer",
    {
      customer: { type: "string" },
      amount: { type: "number" },
      currency: { type: "string", enum: ["EUR", "USD", "GBP"], default: "EUR" },
      due_in_days: { type: "integer", default: 14 },
    },
    ["customer", "amount"],
  ),
  tool(
    "invoice_status",
    "Tells whether an invoice is paid",
    { invoice_number: { type: "string", pattern: "^INV-\\d{4,}$" } },
    ["invoice_number"],
  ),
  tool("product_price", "Looks up the price of a product", { product: { type: "string" } }, ["product"]),
  tool(
    "product_update_price",
    "Updates the price of a product",
    { product: { type: "string" }, price: { type: "number", minimum: 0 } },
    ["product", "price"],
  ),
  tool(
    "sms",
    "Send a text message to a phone",
    {
      to: { type: "string", pattern: "^\\+?[0-9 ]{6,}$", description: "phone number" },
      message: { type: "string", maxLength: 160 },
    },
    ["to", "message"],
  ),
  tool(
    "blog_publish",
    "Publishes a blog post",
    {
      title: { type: "string" },
      body: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
      draft: { type: "boolean", default: false },
    },
    ["title", "body"],
  ),
  tool(
    "blog_list",
    "Lists blog posts",
    { tag: { type: "string" }, since: { type: "string", format: "date" }, limit: { type: "integer", default: 10 } },
    [],
  ),
  tool(
    "qr_code",
    "Makes a QR code of a text or link",
    { content: { type: "string" }, size: { type: "integer", default: 256, description: "in pixels" } },
    ["content"],
  ),
  tool("bmi", "Calculates the body mass index", { weight_kg: { type: "number" }, height_cm: { type: "number" } }, [
    "weight_kg",
    "height_cm",
  ]),
  tool(
    "tip",
    "Calculates the tip and splits the bill",
    { bill: { type: "number" }, percent: { type: "number", default: 10 }, people: { type: "integer", default: 1 } },
    ["bill"],
  ),
  tool(
    "roll_dice",
    "Rolls dice",
    { count: { type: "integer", minimum: 1, default: 1 }, sides: { type: "integer", minimum: 2, default: 6 } },
    [],
  ),
  tool("read_file", "Reads a text file", { path: { type: "string" }, max_lines: { type: "integer" } }, ["path"]),
  tool(
    "write_file",
    "Writes a text file",
    { path: { type: "string" }, content: { type: "string" }, append: { type: "boolean", default: false } },
    ["path", "content"],
  ),
  tool(
    "list_dir",
    "Lists the files in a directory",
    {
      path: { type: "string", default: "." },
      recursive: { type: "boolean", default: false },
      hidden: { type: "boolean", default: false, description: "also hidden files" },
    },
    [],
  ),
  tool(
    "days_between",
    "Counts the days between two dates",
    { start: { type: "string", format: "date" }, end: { type: "string", format: "date" } },
    ["start", "end"],
  ),
  tool(
    "sunrise",
    "Time of sunrise and sunset at a place",
    { place: { type: "string" }, date: { type: "string", format: "date" } },
    ["place"],
  ),
  tool(
    "route",
    "Finds a route between two places",
    {
      from: { type: "string" },
      to: { type: "string" },
      mode: { type: "string", enum: ["car", "bike", "walk", "train"], default: "car" },
      avoid: { type: "array", items: { type: "string", enum: ["tolls", "ferries", "highways"] } },
    },
    ["from", "to"],
  ),
  tool(
    "backup_run",
    "Starts a backup",
    { target: { type: "string", enum: ["local", "cloud"] }, compress: { type: "boolean", default: true } },
    ["target"],
  ),
  tool(
    "color_convert",
    "Converts a colour",
    { color: { type: "string", description: "such as #ff8800" }, to: { type: "string", enum: ["rgb", "hsl", "hex"] } },
    ["color", "to"],
  ),
  tool(
    "survey_answer",
    "Stores the answer to a survey",
    {
      survey_id: { type: "integer" },
      rating: { type: "integer", minimum: 1, maximum: 5 },
      comment: { type: "string" },
    },
    ["survey_id", "rating"],
  ),
];
