import { type AddressInfo, createServer } from 'node:net';

/** The answer of a real spamd 4.0.1 to a REPORT, with a description of two lines. */
const REPORT = `Spam detection software, running on the system "mail.example", has
identified this incoming email as possible spam.

Content analysis details:   (6.2 points, 5.0 required)

 pts rule name              description
---- ---------------------- --------------------------------------------------
-0.0 NO_RELAYS              Informational: message was not relayed via SMTP
 1.2 MISSING_HEADERS        Missing To: header
 5.0 GTUBE                  BODY: Generic Test for Unsolicited Bulk Email, as
                            its authors have agreed upon

`;

/** A server that speaks the protocol of spamd: it takes a whole message before it answers. */
export interface Spamd extends AsyncDisposable {
  readonly url: string;
  /** The messages that it was asked about. */
  readonly asked: readonly string[];
}

/** Starts one. `answer` replaces its verdict. */
export async function startSpamd(answer?: string): Promise<Spamd> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    let heard = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (octets: Buffer) => {
      heard = Buffer.concat([heard, octets]);
      const end = heard.indexOf('\r\n\r\n');
      const length = Number(/^Content-length: (\d+)$/m.exec(heard.subarray(0, end).toString())?.[1]);
      const message = heard.subarray(end + 4);
      if (end < 0 || message.length < length) return;
      asked.push(message.toString());
      socket.end(
        answer ??
          `SPAMD/1.1 0 EX_OK\r\nContent-length: ${REPORT.length}\r\nSpam: True ; 6.2 / 5.0\r\n\r\n${REPORT}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `tcp://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
