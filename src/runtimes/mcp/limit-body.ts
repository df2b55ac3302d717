const lineFeed = 10;

/**
 * Wraps `fetch` so that no answer is larger than `maxBytes`; of a stream of events, no event. Whoever reads more gets an error, and the
 * connection is cut.
 */
export function limitBody(fetchIt: typeof fetch, maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetchIt(input, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream/iu.test(response.headers.get("content-type") ?? "");
    const body = response.body.pipeThrough(limitBytes(maxBytes, isStream));
    const { status, statusText, headers } = response;
    const limited = new Response(body, { status, statusText, headers });
    // Where an answer came from decides what its relative addresses mean.
    Object.defineProperty(limited, "url", { value: response.url });
    return limited;
  };
}

function limitBytes(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // An event ends with an empty line; whichever line is long, the event is.
      const newest = isStream ? chunk.lastIndexOf(lineFeed) : -1;
      bytes = newest >= 0 ? chunk.length - newest : bytes + chunk.length;
      if (bytes > maxBytes) controller.error(new Error(`The server sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}
