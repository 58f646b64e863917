// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what was really sent, not on what a type promises.
type Call = any;

/** As much of SES as a domain and an email need. */
export function startSes() {
  let failure: readonly [status: number, type: string] | null = null;
  const calls: { readonly method: string; readonly path: string; readonly body: Call }[] = [];
  const messageIds: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      const text = await request.text();
      calls.push({ method: request.method, path, body: text === '' ? null : JSON.parse(text) });
      if (failure && path.endsWith('/outbound-emails'))
        return Response.json(
          { message: 'no' },
          { status: failure[0], headers: { 'x-amzn-errortype': failure[1] } },
        );
      if (path.endsWith('/outbound-emails')) {
        const messageId = `0102018f3a5b6c7d-${crypto.randomUUID()}-000000`;
        messageIds.push(messageId);
        return Response.json({ MessageId: messageId });
      }
      return Response.json({ VerifiedForSendingStatus: true, DkimAttributes: { Status: 'SUCCESS' } });
    },
  });
  return {
    calls,
    /** The ids of the messages that it has taken, in their order. */
    messageIds: messageIds as readonly string[],
    endpoint: server.url.origin,
    /** Answers every message with that error; null takes them again. */
    fail(with_: typeof failure) {
      failure = with_;
    },
    stop: () => server.stop(true),
  };
}
