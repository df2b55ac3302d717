import { inputRequired, type InputRequest, type InputRequests } from "@modelcontextprotocol/server";
import { defineTool, injected, type Tool } from "kitbag";
import type { McpClientAccess } from "kitbag/mcp";

type Form = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];

const nameForm = form({ name: { type: "string" } }, ["name"]);

const defaultsForm = form({
  name: { type: "string", description: "User name", default: "John Doe" },
  age: { type: "integer", description: "User age", default: 30 },
  score: { type: "number", description: "User score", default: 95.5 },
  status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", description: "Verification status", default: true },
});

const choices = ["value1", "value2", "value3"].map((value, index) => ({ const: value, title: `Choice ${index + 1}` }));

const enumsForm = form({
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: { type: "string", oneOf: choices },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
  titledMulti: { type: "array", items: { anyOf: choices } },
});

const greeting = sample("Generate a greeting", 50);

/** The tools of the suite that ask the client: its person, its model, its folders. */
export const askingTools: readonly Tool[] = [
  asking("test_sampling", async (mcp, { prompt }) => {
    const { reply } = await mcp.ask({ reply: sample(String(prompt), 100) });
    const content = reply?.["content"] as { readonly text: string } | undefined;
    return `LLM response: ${content?.text}`;
  }),
  asking("test_elicitation", async (mcp, { message }) => {
    const fields = {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    };
    const { user } = await mcp.ask({ user: elicit(String(message), form(fields, ["username", "email"])) });
    return `User response: action=${String(user?.["action"])}, content=${JSON.stringify(user?.["content"])}`;
  }),
  elicitOnce("test_elicitation_sep1034_defaults", defaultsForm),
  elicitOnce("test_elicitation_sep1330_enums", enumsForm),
  elicitOnce("test_streaming_elicitation", nameForm),
  once("test_missing_capability", { reply: sample("Anything", 10) }),
  once("test_input_required_result_elicitation", { user_name: elicit("What is your name?", nameForm) }),
  once("test_input_required_result_sampling", {
    capital_question: sample("What is the capital of France?", 100),
  }),
  once("test_input_required_result_list_roots", { client_roots: inputRequired.listRoots() }),
  once("test_input_required_result_request_state", { confirm: elicit("Please confirm", confirmForm()) }, "state-ok"),
  once("test_input_required_result_tampered_state", { confirm: elicit("Please confirm", confirmForm()) }),
  once("test_input_required_result_multiple_inputs", {
    user_name: elicit("What is your name?", nameForm),
    greeting,
    client_roots: inputRequired.listRoots(),
  }),
  asking("test_input_required_result_multi_round", async (mcp) => {
    await mcp.ask({ step1: elicit("Step 1: What is your name?", nameForm) });
    const color = form({ color: { type: "string" } }, ["color"]);
    const { step2 } = await mcp.ask({ step2: elicit("Step 2: What is your favorite color?", color) });
    return `Done: ${JSON.stringify(step2)}`;
  }),
  asking("test_input_required_result_capabilities", async (mcp) => {
    const questions: InputRequests = {
      ...(mcp.can("elicitation") && { user_name: elicit("What is your name?", nameForm) }),
      ...(mcp.can("sampling") && { greeting }),
    };
    return `Done: ${JSON.stringify(await mcp.ask(questions))}`;
  }),
];

type Input = Readonly<Record<string, unknown>>;

function asking(name: string, run: (mcp: McpClientAccess, input: Input) => Promise<string>): Tool {
  return defineTool({
    name,
    description: `Asks the client as the suite wants: ${name}`,
    input: {
      type: "object",
      properties: { prompt: { type: "string", default: "Hello" }, message: { type: "string", default: "Hello" } },
    },
    inject: { mcp: injected<McpClientAccess>() },
    run: (input, { injected: { mcp } }) => run(mcp, input),
  });
}

function once(name: string, questions: InputRequests, word = "Done"): Tool {
  return asking(name, async (mcp) => `${word}: ${JSON.stringify(await mcp.ask(questions))}`);
}

function elicitOnce(name: string, requested: Form): Tool {
  return asking(name, async (mcp) => {
    const { user } = await mcp.ask({ user: elicit("Please fill in the form", requested) });
    return `Elicitation completed: action=${String(user?.["action"])}, content=${JSON.stringify(user?.["content"])}`;
  });
}

function elicit(message: string, requestedSchema: Form): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}

function sample(text: string, maxTokens: number): InputRequest {
  return inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens });
}

function confirmForm(): Form {
  return form({ ok: { type: "boolean" } }, ["ok"]);
}

function form(properties: object, required?: readonly string[]): Form {
  return { type: "object", properties, ...(required !== undefined && { required: [...required] }) } as Form;
}
