import { ModelError } from '../../session/model.ts';

/** The longest answer that is read, in bytes: several times what the longest reply of any model takes on the wire. */
export const MOST_BYTES = 128 * 1024 * 1024;

/**
 * The fetch that talks to a provider. It never follows a redirect, which would carry the key to another host, and it
 * ends an answer that goes on past `mostBytes` with `model.failed`, so that no server can fill the memory.
 */
export function providerFetch(source: string, mostBytes = MOST_BYTES): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await globalThis.fetch(input, { ...init, redirect: 'error' });
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    return new Response(body.pipeThrough(limited(source, mostBytes)), {
      status,
      statusText,
      headers,
    });
  };
}

function limited(source: string, mostBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= mostBytes) controller.enqueue(chunk);
      else controller.error(tooLong(source, mostBytes));
    },
  });
}

function tooLong(source: string, mostBytes: number): ModelError {
  return new ModelError(
    'model.failed',
    `The model source "${source}" sent more than ${Math.round(mostBytes / 1024 / 1024)} MiB in one answer, so it was cut off. Ask for less at once, or choose another model.`,
    { source },
  );
}
