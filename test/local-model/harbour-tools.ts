import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;
const day = { type: "string", format: "date" } as const;

/** Tools of a harbour office and the people in it. */
export const harbourTools: readonly ModelTool[] = [
  tool(
    "get_ship",
    "Retrieve information about a ship",
    { imo: { type: "string", description: "IMO number, e.g. 9074729" } },
    ["imo"],
  ),
  tool(
    "list_arrivals",
    "List the ships that arrive in the harbour",
    {
      date: day,
      terminal: { type: "string", enum: ["north", "south", "cruise"] },
      limit: { type: "integer", default: 25 },
    },
    [],
  ),
  tool(
    "assign_berth",
    "Assign a berth to a ship",
    { ship: { type: "string", description: "Name of the ship" }, berth: { type: "string", description: "e.g. B12" } },
    ["ship", "berth"],
  ),
  tool("get_tide", "Returns the tide table of a port", { port: text, date: day }, ["port"]),
  tool(
    "create_work_order",
    "Creates a work order for maintenance",
    {
      title: text,
      asset: { type: "string", description: "What is to be repaired" },
      priority: { type: "string", enum: ["low", "normal", "urgent"], default: "normal" },
      due_date: day,
      notify: { type: "array", items: { type: "string", format: "email" } },
    },
    ["title"],
  ),
  tool("complete_work_order", "Marks a work order as completed", { id: { type: "integer" } }, ["id"]),
  tool(
    "search_documents",
    "Full text search over all documents",
    {
      query: text,
      filters: {
        type: "object",
        properties: {
          author: text,
          year: { type: "integer" },
          format: { type: "string", enum: ["pdf", "docx", "txt"] },
        },
      },
      page: { type: "integer", default: 1 },
    },
    ["query"],
  ),
  tool(
    "delete_document",
    "Permanently deletes a document",
    { document_id: { type: "string", description: "e.g. DOC-311" } },
    ["document_id"],
  ),
  tool("radio_message", "Sends a message to a ship by radio", { ship: text, message: text }, ["ship", "message"]),
  tool("vhf_channels", "Lists VHF channels", { area: text }, []),
  tool(
    "crane_status",
    "Tells the status of a crane",
    { crane: { type: "integer", minimum: 1, maximum: 12, description: "Number of the crane" } },
    ["crane"],
  ),
  tool("stop_crane", "Stops a crane at once", { crane: { type: "integer", minimum: 1, maximum: 12 } }, ["crane"]),
  tool(
    "customs_duty",
    "Computes the customs duty of goods",
    { value: { type: "number", description: "Value of the goods in EUR" }, country: text, category: text },
    ["value", "country"],
  ),
  tool(
    "convert_speed",
    "Converts a speed between knots, km/h and mph",
    {
      speed: { type: "number" },
      from_unit: { type: "string", enum: ["knots", "km/h", "mph"] },
      to_unit: { type: "string", enum: ["knots", "km/h", "mph"] },
    },
    ["speed", "from_unit", "to_unit"],
  ),
  tool("distance", "Computes the distance between two ports in nautical miles", { from: text, to: text }, [
    "from",
    "to",
  ]),
  tool(
    "roster",
    "Shows who works in which shift",
    { day, shift: { type: "string", enum: ["early", "late", "night"] } },
    ["day"],
  ),
  tool("swap_shift", "Swaps the shifts of two employees on a day", { employee: text, with: text, day }, [
    "employee",
    "with",
    "day",
  ]),
  tool("request_leave", "Requests days off", { from: day, to: day, reason: text }, ["from", "to"]),
  tool(
    "set_gate",
    "Opens or closes a gate",
    { gate: { type: "string", enum: ["main", "east", "west"] }, open: { type: "boolean" } },
    ["gate", "open"],
  ),
  tool(
    "camera_snapshot",
    "Takes a snapshot with a camera",
    {
      camera: { type: "string", description: "e.g. cam-04" },
      resolution: { type: "string", enum: ["720p", "1080p", "4k"], default: "1080p" },
    },
    ["camera"],
  ),
  tool("wind", "Current wind at a weather station", { station: text }, ["station"]),
  tool(
    "play_announcement",
    "Plays an announcement in the terminal",
    { text, language: { type: "string", default: "en" }, repeat: { type: "integer", default: 1 } },
    ["text"],
  ),
  tool(
    "ocr_image",
    "Reads the text in an image",
    { file: text, language: { type: "string", description: "e.g. eng" } },
    ["file"],
  ),
  tool("ping_host", "Checks whether a host can be reached", { host: text, count: { type: "integer", default: 4 } }, [
    "host",
  ]),
  tool("tail_log", "Shows the end of a log file", { file: text, lines: { type: "integer", default: 50 } }, ["file"]),
];
