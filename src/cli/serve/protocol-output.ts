import { Writable } from "node:stream";

/**
 * Standard output as a stream for the protocol alone. `process.stdout.write` goes to standard error by then, so that nothing that a
 * tool or a configuration prints gets between the messages.
 */
export function openProtocolOutput({ stdout }: { readonly stdout: Writable } = process): Writable {
  const { write } = Object.getPrototypeOf(stdout) as Writable;

  return new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, encoding, done) {
      if (write.call(stdout, chunk, encoding)) done();
      else stdout.once("drain", done);
    },
  });
}
