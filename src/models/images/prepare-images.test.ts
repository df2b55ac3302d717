import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { makeImage } from "../../../test/support/make-image.ts";
import type { ModelPrompt } from "../model.ts";
import { createImageCache } from "./image-cache.ts";
import { prepareImages } from "./prepare-images.ts";
import { toImagePart, type ImagePart } from "./to-image-part.ts";

const anthropic = { provider: "anthropic.messages", supportedUrls: { "image/*": [/^https?:\/\/.*$/u] } };
const google = { provider: "google.generative-ai", supportedUrls: { "*": [/^https:\/\/files\.test\/.*$/u] } };
const compatible = { provider: "somebody.chat", supportedUrls: {} };

test("prepareImages() answers with the prompt itself if a model takes it", async () => {
  const part = await toImagePart(await makeImage("png"));
  const text = Buffer.from((part.data as { data: Uint8Array }).data).toString("base64");
  const prompt = [...ask(part), ...ask({ ...part, data: { type: "data", data: text } })];

  for (const model of [anthropic, google, compatible]) {
    expect(await prepareImages(prompt, model)).toBe(prompt);
  }
});

test.for([
  { type: "gif", model: anthropic, expected: "image/gif" },
  { type: "gif", model: google, expected: "image/png" },
  { type: "gif", model: compatible, expected: "image/png" },
  { type: "webp", model: google, expected: "image/webp" },
  { type: "webp", model: compatible, expected: "image/jpeg" },
  { type: "tiff", model: anthropic, expected: "image/jpeg" },
  { type: "avif", model: google, expected: "image/jpeg" },
] as const)("prepareImages() gives a $type to $model.provider as $expected", async ({ type, model, expected }) => {
  const bytes = await makeImage(type);
  const prompt = ask(await toImagePart(bytes));
  const before = structuredClone(prompt);

  const [image] = imagesOf(await prepareImages(prompt, model));

  expect(image?.mediaType).toBe(expected);
  expect(prompt).toEqual(before);
});

test("prepareImages() corrects a type that is wrong, and cuts off what comes after the end", async () => {
  const bytes = await makeImage("jpeg");
  const data = new Uint8Array(Buffer.concat([bytes, Buffer.from("PK\x03\x04")]));
  const prompt = ask({ type: "file", mediaType: "image/png", filename: "a.png", data: { type: "data", data } });

  const [image] = imagesOf(await prepareImages(prompt, anthropic));

  expect(image).toEqual({
    type: "file",
    mediaType: "image/jpeg",
    filename: "a.png",
    data: { type: "data", data: bytes },
  });
});

test("prepareImages() leaves alone what is not a picture, and what the provider has already", async () => {
  const prompt = ask(
    { type: "file", mediaType: "application/pdf", data: { type: "data", data: new Uint8Array([1]) } },
    { type: "file", mediaType: "image/png", data: { type: "reference", reference: { anthropic: "file_1" } } },
  );

  expect(await prepareImages(prompt, anthropic)).toBe(prompt);
});

test("prepareImages() refuses a broken picture with the name of its file", async () => {
  const data = { type: "data", data: new Uint8Array([1, 2, 3]) } as const;
  const prompt = ask({ type: "file", mediaType: "image/png", filename: "cat.png", data });

  await expect(prepareImages(prompt, anthropic)).rejects.toThrow('Cannot use the image "cat.png": its bytes are of no');
});

test("prepareImages() makes more than twenty pictures smaller for Anthropic than twenty", async () => {
  const part = await toImagePart(await makeImage("png", { width: 2500, height: 10 }));
  const few = ask(...Array.from({ length: 20 }, () => part));
  const many = ask(...Array.from({ length: 21 }, () => part));

  const prepared = await prepareImages(many, anthropic);

  expect(imagesOf(await prepareImages(few, anthropic))).toEqual(imagesOf(few));
  const widths = imagesOf(prepared).map(({ data }) =>
    Buffer.from((data as { data: Uint8Array }).data).readUInt32BE(16),
  );
  expect(widths).toEqual(Array.from({ length: 21 }, () => 2000));
});

test("prepareImages() leaves a picture on the web where it is if the provider downloads it", async () => {
  const web = ask(await toImagePart("https://example.com/a.png"));
  const files = ask(await toImagePart("https://files.test/1"));

  expect(await prepareImages(web, anthropic)).toBe(web);
  expect(await prepareImages(files, google)).toBe(files);
});

test.for(["http://localhost/a.png", "http://10.0.0.1/a.png", "https://[::1]/a.png"])(
  "prepareImages() tells no provider of %s, which it could not follow",
  async (url) => {
    const prepared = prepareImages(ask(await toImagePart(url)), anthropic);

    await expect(prepared).rejects.toMatchObject({ code: "network-refused" });
  },
);

test("prepareImages() waits for the URLs that a provider takes", async () => {
  const web = ask(await toImagePart("https://example.com/a.png"));

  const prepared = await prepareImages(web, { ...anthropic, supportedUrls: Promise.resolve(anthropic.supportedUrls) });

  expect(prepared).toBe(web);
});

test("prepareImages() downloads a picture that the provider does not, once a conversation", async () => {
  const bytes = await makeImage("png");
  const { url, count } = await servePicture(bytes);
  const prompt = ask(await toImagePart(url));
  const options = { cache: createImageCache(), allow: [new URL(url).host] };

  const first = imagesOf(await prepareImages(prompt, compatible, options));
  const second = imagesOf(await prepareImages(prompt, google, options));

  const data = { type: "data", data: bytes };
  expect(first).toEqual([{ type: "file", mediaType: "image/png", filename: "x.png", data }]);
  expect(second).toEqual(first);
  expect(count()).toBe(1);
});

test("prepareImages() downloads nothing from the own network that is not allowed", async () => {
  const { url, count } = await servePicture(await makeImage("png"));

  const prepared = prepareImages(ask(await toImagePart(url)), compatible);

  await expect(prepared).rejects.toMatchObject({ code: "network-refused" });
  expect(count()).toBe(0);
});

test("prepareImages() does not believe the server about what a picture is", async () => {
  const { url } = await servePicture(new Uint8Array(Buffer.from("<svg onload=alert(1)>")));

  const prepared = prepareImages(ask(await toImagePart(url)), compatible, { allow: [new URL(url).host] });

  await expect(prepared).rejects.toMatchObject({ code: "image-invalid", details: { image: url } });
});

test("prepareImages() reads a data URL itself, though the provider would take it", async () => {
  const text = Buffer.from(await makeImage("png")).toString("base64");
  const url = new URL(`data:image/jpeg;base64,${text}`);
  const everything = { ...anthropic, supportedUrls: { "*/*": [/.*/u] } };

  const prepared = await prepareImages(
    ask({ type: "file", mediaType: "image", data: { type: "url", url } }),
    everything,
  );

  expect(imagesOf(prepared)).toMatchObject([{ mediaType: "image/png", data: { type: "data" } }]);
});

test("prepareImages() converts a picture once a conversation, though it comes as other objects each step", async () => {
  const cache = createImageCache();
  const bytes = await makeImage("gif");
  const toPrompt = async (): Promise<ModelPrompt> => ask(await toImagePart(bytes.slice()));

  const [first] = imagesOf(await prepareImages(await toPrompt(), google, { cache }));
  const [second] = imagesOf(await prepareImages(await toPrompt(), google, { cache }));

  expect(first?.data).toMatchObject({ type: "data" });
  expect((first!.data as { data: Uint8Array }).data).toBe((second!.data as { data: Uint8Array }).data);
});

test("prepareImages() converts pictures in results of tools", async () => {
  const part = await toImagePart(await makeImage("gif"));
  const prompt = [result({ type: "text", text: "here" }, part)];

  const [message] = await prepareImages(prompt, google);

  expect(message).toMatchObject({
    content: [
      {
        output: {
          value: [
            { type: "text", text: "here" },
            { type: "file", mediaType: "image/png" },
          ],
        },
      },
    ],
  });
});

test.for(["openai.chat", "somebody.chat"])(
  "prepareImages() moves pictures of results into a message for %s",
  async (provider) => {
    const part = await toImagePart(await makeImage("png"));
    const prompt: ModelPrompt = [
      result({ type: "text", text: "two" }, part, part),
      result(part),
      { role: "assistant", content: [{ type: "text", text: "I see." }] },
      result(part),
    ];

    const prepared = await prepareImages(prompt, { provider, supportedUrls: {} });

    expect(prepared.map(({ role }) => role)).toEqual(["tool", "tool", "user", "assistant", "tool", "user"]);
    expect(imagesOf(prepared)).toEqual([part, part, part, part]);
    expect(prepared[0]).toMatchObject({
      content: [
        {
          toolCallId: "call_1",
          output: {
            type: "text",
            value: "two\n(The image is in the next message.)\n(The image is in the next message.)",
          },
        },
      ],
    });
    expect(prepared[2]).toMatchObject({
      content: [
        { text: "Image 1 from the result of draw (call_1):" },
        {},
        { text: "Image 2 from the result of draw (call_1):" },
        {},
        { text: "Image from the result of draw (call_1):" },
        {},
      ],
    });
  },
);

type ResultItem = { type: "text"; text: string } | ImagePart;

function ask(...parts: ImagePart[]): ModelPrompt {
  return [{ role: "user", content: [{ type: "text", text: "What is this?" }, ...parts] }];
}

function result(...value: ResultItem[]): ModelPrompt[number] {
  const output = { type: "content" as const, value };
  return { role: "tool", content: [{ type: "tool-result", toolCallId: "call_1", toolName: "draw", output }] };
}

function imagesOf(prompt: ModelPrompt): ImagePart[] {
  return prompt.flatMap((message) =>
    message.role === "user" ? message.content.filter((part) => part.type === "file") : [],
  );
}

async function servePicture(bytes: Uint8Array): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const server = createServer((_, response) => {
    count++;
    response.setHeader("content-type", "image/png").end(bytes);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.png`, count: () => count };
}
