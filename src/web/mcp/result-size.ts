/** Characters of a result. What is longer fills the memory of an assistant, and says no more. */
export const LONGEST_RESULT = 65_536;

/**
 * Octets that a longer message than a result may have at least: a character takes at most three, or four for
 * two.
 */
const BEGINNING = 3 * (LONGEST_RESULT + 1);

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Reads of a message, which may have 25 MiB, no more than a result can show, and cancels the rest. */
export const fetchBeginnings =
  (ask: Fetch): Fetch =>
  async (url, init) => {
    const response = await ask(url, init);
    const { ok, body, status, headers } = response;
    if (!ok || !body || !headers.get('content-type')?.startsWith('message/rfc822')) return response;
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let octets = 0;
    for await (const chunk of body) {
      chunks.push(chunk.slice(0, BEGINNING - octets));
      octets += chunk.length;
      // Leaving the loop cancels the stream.
      if (octets >= BEGINNING) break;
    }
    const kept = new Headers(headers);
    kept.delete('content-length');
    return new Response(new Blob(chunks), { status, headers: kept });
  };
