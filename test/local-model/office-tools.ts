import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of an office, a workshop and a kitchen. */
export const officeTools: readonly ModelTool[] = [
  tool("getUser", "Get a user by id", { userId: { type: "integer" } }, ["userId"]),
  tool(
    "updateUser",
    "Update a user",
    { userId: { type: "integer" }, email: { type: "string", format: "email" }, active: { type: "boolean" } },
    ["userId"],
  ),
  tool(
    "list_orders",
    "List orders",
    {
      customer: { type: "string" },
      status: { type: "string", enum: ["pending", "shipped", "delivered", "cancelled"] },
      from_date: { type: "string", format: "date" },
      to_date: { type: "string", format: "date" },
      page: { type: "integer", default: 1 },
    },
    [],
  ),
  tool("cancel_order", "Cancel an order", { order_number: { type: "string", description: "such as ORD-1001" } }, [
    "order_number",
  ]),
  tool(
    "vacation_request",
    "Requests days off",
    { start: { type: "string", format: "date" }, end: { type: "string", format: "date" }, reason: { type: "string" } },
    ["start", "end"],
  ),
  tool(
    "room_book",
    "Reserves a meeting room",
    {
      room: { type: "string", enum: ["Atlas", "Bora", "Cirrus"] },
      start: { type: "string", format: "date-time" },
      minutes: { type: "integer", default: 30 },
      attendees: { type: "array", items: { type: "string", format: "email" } },
    },
    ["room", "start"],
  ),
  tool(
    "print_document",
    "Prints a document",
    {
      file: { type: "string" },
      copies: { type: "integer", default: 1, minimum: 1 },
      color: { type: "boolean", default: false },
      double_sided: { type: "boolean", default: true },
    },
    ["file"],
  ),
  tool(
    "scale_recipe",
    "Scales a recipe to a number of servings",
    { recipe: { type: "string" }, servings: { type: "integer" } },
    ["recipe", "servings"],
  ),
  tool(
    "oven",
    "Heats the oven",
    {
      celsius: { type: "integer", minimum: 50, maximum: 280 },
      mode: { type: "string", enum: ["fan", "grill", "top-bottom"], default: "fan" },
    },
    ["celsius"],
  ),
  tool(
    "note_save",
    "Saves a note",
    {
      text: { type: "string" },
      folder: { type: "string", default: "inbox" },
      pinned: { type: "boolean", default: false },
    },
    ["text"],
  ),
  tool("note_search", "Searches notes", { query: { type: "string" }, limit: { type: "integer", default: 10 } }, [
    "query",
  ]),
  tool(
    "poll_create",
    "Starts a poll",
    {
      question: { type: "string" },
      options: { type: "array", items: { type: "string" } },
      multiple: { type: "boolean", default: false },
    },
    ["question", "options"],
  ),
  tool(
    "dns_lookup",
    "Looks up DNS records",
    { domain: { type: "string" }, type: { type: "string", enum: ["A", "AAAA", "MX", "TXT"], default: "A" } },
    ["domain"],
  ),
  tool(
    "image_crop",
    "Crops an image",
    {
      file: { type: "string" },
      box: {
        type: "object",
        properties: {
          x: { type: "integer" },
          y: { type: "integer" },
          width: { type: "integer" },
          height: { type: "integer" },
        },
        required: ["x", "y", "width", "height"],
      },
    },
    ["file", "box"],
  ),
  tool(
    "salary",
    "Computes the net salary",
    {
      gross: { type: "number" },
      country: { type: "string", enum: ["DE", "FR", "US"] },
      tax_class: { type: "integer" },
    },
    ["gross", "country"],
  ),
  tool("countdown", "Tells how many days there are until a date", { date: { type: "string", format: "date" } }, [
    "date",
  ]),
  tool(
    "spell_check",
    "Checks the spelling of a text",
    { text: { type: "string" }, language: { type: "string", enum: ["en", "de", "fr", "es"], default: "en" } },
    ["text"],
  ),
  tool(
    "job_schedule",
    "Schedules a job",
    {
      name: { type: "string" },
      cron: { type: "string", description: "such as 0 6 * * *" },
      enabled: { type: "boolean", default: true },
    },
    ["name", "cron"],
  ),
  tool(
    "download",
    "Downloads a file from the web",
    { url: { type: "string", format: "uri" }, save_as: { type: "string" } },
    ["url"],
  ),
  tool(
    "metric_query",
    "Reads a metric of a server",
    {
      metric: { type: "string", enum: ["cpu", "memory", "disk"] },
      server: { type: "string" },
      minutes: { type: "integer", default: 60, description: "how far to look back" },
    },
    ["metric", "server"],
  ),
];
