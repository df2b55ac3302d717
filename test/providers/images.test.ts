import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createAgent } from "../../src/agent/create-agent.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { toImagePart, type ImagePart } from "../../src/models/images/to-image-part.ts";
import { withImages } from "../../src/models/images/with-images.ts";
import type { ModelMessage, ModelTool } from "../../src/models/model.ts";
import { makeImage } from "../support/make-image.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { say, toAssistantMessage, ways } from "./conversation.ts";
import { providers, startProvider } from "./providers.ts";

const look: ModelTool = { type: "function", name: "look", inputSchema: { type: "object", properties: {} } };

test.for(providers)("$name receives the bytes of a picture", async (provider) => {
  const bytes = await makeImage("png", { width: 33, height: 22 });
  const path = join(createFolder({ "picture.txt": bytes }), "picture.txt");
  const { server, model } = await startProvider(provider, [{ text: "A box." }]);

  const { text } = await ways.stream(withImages(model), { prompt: [show(await toImagePart(path))] });

  expect(text).toBe("A box.");
  expect(server.requests[0]?.images).toEqual([{ mediaType: "image/png", bytes: Buffer.from(bytes) }]);
  expect(server.requests[0]?.texts).toEqual(["What is this?"]);
});

test.for(
  providers.flatMap((provider) => (["gif", "webp", "avif", "tiff"] as const).map((type) => ({ ...provider, type }))),
)("$name takes a picture that was a $type", async ({ type, ...provider }) => {
  const { server, model } = await startProvider(provider, [{ text: "A box." }]);
  const part = await toImagePart(await makeImage(type));

  // The server refuses, as the provider does, what the provider does not know.
  const { text } = await ways.generate(withImages(model), { prompt: [show(part)] });

  expect(text).toBe("A box.");
  expect(server.requests[0]?.images).toHaveLength(1);
});

// Ollama is not told the type.
test.for(providers.filter(({ name }) => name !== "ollama"))(
  "$name refuses a picture of another type than it says",
  async (provider) => {
    const { model } = await startProvider(provider, [{ text: "A box." }]);
    const part = { ...(await toImagePart(await makeImage("jpeg"))), mediaType: "image/png" };

    const bare = ways.generate(model, { prompt: [show(part)] });

    await expect(bare).rejects.toMatchObject({ statusCode: 400 });
  },
);

test.for(providers)("$name takes a picture that said it was of another type", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: "A box." }]);
  const part = { ...(await toImagePart(await makeImage("jpeg"))), mediaType: "image/png" };

  await ways.generate(withImages(model), { prompt: [show(part)] });

  expect(server.requests[0]?.images).toMatchObject([{ mediaType: "image/jpeg" }]);
});

const fetching = new Set<string>(["openai-chat", "openai-responses", "anthropic"]);

test.for(providers.filter(({ name }) => fetching.has(name)))(
  "$name is told where a picture on the web is",
  async (provider) => {
    const url = "https://pictures.test/x.png?size=1";
    const { server, model } = await startProvider(provider, [{ text: "A box." }]);

    await ways.generate(withImages(model), { prompt: [show(await toImagePart(url))] });

    expect(server.requests[0]?.images).toEqual([{ url }]);
  },
);

test.for(providers)("$name is given the bytes of a picture that it cannot download", async (provider) => {
  const bytes = await makeImage("png");
  const url = await servePicture(bytes);
  const { server, model } = await startProvider(provider, [{ text: "A box." }]);
  const allow = [new URL(url).host];

  await ways.generate(withImages(model, { allow }), { prompt: [show(await toImagePart(url))] });

  expect(server.requests[0]?.images).toEqual([{ mediaType: "image/png", bytes: Buffer.from(bytes) }]);
});

test.for(providers)("$name is given nothing from the own network that nobody allowed", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: "A box." }]);
  const part = await toImagePart(await servePicture(await makeImage("png")));

  const answer = ways.generate(withImages(model), { prompt: [show(part)] });

  await expect(answer).rejects.toMatchObject({ code: "network-refused" });
  expect(server.requests).toEqual([]);
});

test.for(providers)("$name sees a picture that a tool answered with", async (provider) => {
  const bytes = await makeImage("png");
  const script = [{ calls: [{ id: "call_1", name: "look", input: {} }] }, { text: "A box." }];
  const { server, model } = await startProvider(provider, script);
  const seeing = withImages(model);
  const first = await ways.generate(seeing, { prompt: [say("Look.")], tools: [look] });
  const prompt = [say("Look."), toAssistantMessage(first.content), resultOf(first.content, await toImagePart(bytes))];

  const { text } = await ways.generate(seeing, { prompt, tools: [look] });

  expect(text).toBe("A box.");
  expect(server.requests[1]?.images).toEqual([{ mediaType: "image/png", bytes: Buffer.from(bytes) }]);
  expect(server.requests[1]?.results).toHaveLength(1);
  expect(server.requests[1]?.results[0]?.text).not.toContain(Buffer.from(bytes).toString("base64").slice(0, 40));
});

test.for(providers)("$name is told which of three pictures is which, in order and by name", async (provider) => {
  const pictures = [await makeImage("png"), await makeImage("jpeg"), await makeImage("png", { width: 20 })];
  const { server, model } = await startProvider(provider, [{ text: "The second." }]);
  const agent = createAgent({ model, workspace: createWorkspace() });
  const images = [
    join(createFolder({ "receipt.png": pictures[0]! }), "receipt.png"),
    { name: "the photo", image: pictures[1]! },
    pictures[2]!,
  ];

  const { text } = await agent.run("Which one is the photo?", { images }).result;

  const [request] = server.requests;
  const sent = JSON.stringify(request?.body);
  const marks = ["Which one is the photo?", "Image 1 (receipt.png):", "Image 2 (the photo):", "Image 3:"];
  const data = pictures.map((bytes) => Buffer.from(bytes).toString("base64"));
  const [first, second, third] = data;
  const together = [marks[0], marks[1], first, marks[2], second, marks[3], third];
  // Ollama has a list of pictures beside the text.
  const wanted = provider.name === "ollama" ? [...marks, ...data] : together;
  const order = wanted.map((part) => sent.indexOf(String(part)));
  expect(text).toBe("The second.");
  expect(request?.images.map(({ bytes }) => bytes)).toEqual(pictures.map((bytes) => Buffer.from(bytes)));
  expect(request?.texts.join("\n")).toContain(marks.join("\n"));
  expect(order).toEqual(order.toSorted((left, right) => left - right));
  expect(order).not.toContain(-1);
});

test.for(providers)("$name is told which of two pictures of a tool is which", async (provider) => {
  const bytes = [await makeImage("png"), await makeImage("jpeg")];
  const script = [{ calls: [{ id: "call_1", name: "look", input: {} }] }, { text: "Seen." }];
  const { server, model } = await startProvider(provider, script);
  const seeing = withImages(model);
  const first = await ways.generate(seeing, { prompt: [say("Look.")], tools: [look] });
  const parts = await Promise.all(bytes.map((image) => toImagePart(image)));
  const prompt = [say("Look."), toAssistantMessage(first.content), resultOf(first.content, ...parts)];

  await ways.generate(seeing, { prompt, tools: [look] });

  const sent = JSON.stringify(server.requests[1]?.body);
  const [one, two] = bytes.map((image) => Buffer.from(image).toString("base64")) as [string, string];
  // These keep the texts of a result and its pictures apart.
  const areApart = provider.name === "google" || provider.name === "ollama";
  const wanted = areApart ? ["Image 1", "Image 2", one, two] : ["Image 1", one, "Image 2", two];
  const order = wanted.map((mark) => sent.indexOf(mark));
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((left, right) => left - right));
});

test.for(providers)("$name is sent the same bytes of a converted picture at each step", async (provider) => {
  const { server, model } = await startProvider(provider, [{ text: "One." }, { text: "Two." }]);
  const prompt = [show(await toImagePart(await makeImage("tiff")))];
  const seeing = withImages(model);

  await ways.generate(seeing, { prompt });
  await ways.generate(seeing, {
    prompt: [...prompt, { role: "assistant", content: [{ type: "text", text: "One." }] }, say("?")],
  });

  const [first, second] = server.requests.map(({ images }) => images);
  expect(second).toEqual(first);
});

function show(part: ImagePart): ModelMessage {
  return { role: "user", content: [{ type: "text", text: "What is this?" }, part] };
}

function resultOf(content: readonly { readonly type: string }[], ...parts: readonly ImagePart[]): ModelMessage {
  const call = content.find(({ type }) => type === "tool-call") as unknown as { toolCallId: string; toolName: string };
  const output = { type: "content" as const, value: [{ type: "text" as const, text: "Here:" }, ...parts] };
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, output }],
  };
}

async function servePicture(bytes: Uint8Array): Promise<string> {
  const server = createServer((_, response) => response.setHeader("content-type", "image/png").end(bytes));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.png`;
}
