import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of a farm with a shop and a guest house. */
export const farmTools: readonly ModelTool[] = [
  tool(
    "crop_photo",
    "Crop a photo to a rectangle",
    {
      photo: { type: "string", description: "path of the photo" },
      w: { type: "integer" },
      h: { type: "integer" },
      centered: { type: "boolean" },
    },
    ["photo"],
  ),
  tool(
    "plant_bed",
    "Plan a bed of vegetables",
    {
      vegetable: { type: "string" },
      rows: { type: "integer" },
      per_row: { type: "integer" },
      spacing_cm: { type: "number" },
    },
    ["vegetable"],
  ),
  tool(
    "find_ferry",
    "Find ferries between two ports",
    {
      departure_port: { type: "string" },
      arrival_port: { type: "string" },
      date: { type: "string", format: "date" },
      cabin: { type: "string", enum: ["seat", "inside", "outside"] },
    },
    ["departure_port", "arrival_port"],
  ),
  tool(
    "get_sunset",
    "Tell when the sun sets in a town",
    { town: { type: "string" }, date: { type: "string", format: "date" } },
    ["town"],
  ),
  tool("egg_price", "Look up the price of eggs in a market", { market: { type: "string" } }, ["market"]),
  tool(
    "dose",
    "Compute the dose of a medicine for an animal",
    { weight_kg: { type: "number" }, medicine: { type: "string" } },
    ["weight_kg", "medicine"],
  ),
  tool(
    "tank_volume",
    "Compute the volume of a round tank",
    { radius_m: { type: "number" }, depth_cm: { type: "number" } },
    ["radius_m", "depth_cm"],
  ),
  tool("set_heating", "Set the temperature of the greenhouse", { target_celsius: { type: "number" } }, [
    "target_celsius",
  ]),
  tool("irrigate", "Water a field", { field: { type: "string" }, duration_min: { type: "integer" } }, [
    "field",
    "duration_min",
  ]),
  tool(
    "find_animal",
    "Find an animal by ear tag, name or kind",
    {
      tag: { type: "string", description: "ear tag, such as DE-4711" },
      name: { type: "string" },
      kind: { type: "string", enum: ["cow", "goat", "sheep"] },
    },
    [],
  ),
  tool(
    "get_invoice",
    "Get an invoice",
    { id: { type: "integer" }, customer_email: { type: "string", format: "email" } },
    [],
  ),
  tool(
    "fax_order",
    "Send a fax to a supplier",
    { number: { type: "string", description: "fax number" }, text: { type: "string" } },
    ["number", "text"],
  ),
  tool(
    "reserve_room",
    "Reserve a room in the guest house",
    {
      guest: { type: "string", description: "name of the guest" },
      from: { type: "string", format: "date" },
      nights: { type: "integer" },
    },
    ["guest", "from", "nights"],
  ),
  tool(
    "milk_report",
    "Report how much milk was given",
    { since: { type: "string", format: "date" }, until: { type: "string", format: "date" } },
    [],
  ),
  tool("add_chore", "Add a chore to the plan", { chore: { type: "string" }, worker: { type: "string" } }, ["chore"]),
  tool("close_gate", "Close a gate", { gate_number: { type: "string" } }, ["gate_number"]),
  tool("read_sheet", "Read a sheet of an Excel or CSV file", { file: { type: "string" }, sheet: { type: "string" } }, [
    "file",
  ]),
];
