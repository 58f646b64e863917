/**
 * Asks one name server one question. dns2 encodes and decodes; the sockets are ours, because its clients wait
 * for ever over TCP, accept an answer to another question, and only support IPv4 (read in its source).
 */
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { Packet } from 'dns2';

export interface NameServer {
  readonly address: string;
  readonly port: number;
}

/** The record types that mail needs. */
export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'TXT';

/** The answer of DNS. `failed` is temporary, whatever the cause: nothing may be concluded from it. */
export type Answer<T> =
  | { readonly status: 'found'; readonly records: readonly T[] }
  /** The name exists, without records of this type. */
  | { readonly status: 'nodata' }
  /** The name does not exist. */
  | { readonly status: 'nxdomain' }
  | { readonly status: 'failed'; readonly reason: string };

/** A DNS question. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
}

/**
 * Asks over UDP, and over TCP when the answer did not fit (RFC 7766). Rejects when no usable answer comes
 * within `timeoutMs`.
 */
export const ask = async (server: NameServer, question: Question, timeoutMs: number): Promise<Packet> => {
  const query = pack(question);
  const answer = await overUdp(server, query, question, timeoutMs);
  return answer.header.tc ? overTcp(server, query, question, timeoutMs) : answer;
};

const pack = ({ name, type }: Question): Buffer => {
  const query = new Packet();
  // RFC 5452: a random id here and a random port from the system keep forged answers out.
  query.header.id = Packet.uuid();
  query.header.rd = 1;
  query.questions.push(new Packet.Question(name, Packet.TYPE[type], Packet.CLASS.IN));
  // 1,232 octets pass every path without fragments; a 2048-bit DKIM key then fits without TCP.
  query.additionals.push(Packet.Resource.EDNS([], { udpPayloadSize: 1_232 }));
  return query.toBuffer();
};

/** Decodes the answer to this query; null for any other datagram. */
const answerIn = (message: Buffer, query: Buffer, { name, type }: Question): Packet | null => {
  try {
    const packet = Packet.parse(message);
    const [asked] = packet.questions;
    const matches =
      packet.header.qr === 1 &&
      packet.header.id === query.readUInt16BE(0) &&
      asked?.type === Packet.TYPE[type] &&
      sameName(asked.name, name);
    return matches ? packet : null;
  } catch {
    return null;
  }
};

/** Names are equal without regard to case and a final dot. */
export const sameName = (a: string, b: string): boolean => bare(a) === bare(b);
const bare = (name: string): string => name.toLowerCase().replace(/\.$/, '');

const overUdp = (server: NameServer, query: Buffer, question: Question, timeoutMs: number): Promise<Packet> =>
  new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    const timer = setTimeout(() => end(() => reject(new Error('no answer in time'))), timeoutMs);
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.removeAllListeners('message');
      socket.close();
      settle();
    };
    const fail = (error: Error) => end(() => reject(error));
    socket.on('error', fail);
    socket.on('message', (message) => {
      // Strays and forgeries are ignored: the real answer may still come.
      const answer = answerIn(message, query, question);
      if (answer) end(() => resolve(answer));
    });
    // The socket is connected, so that the system drops datagrams of other senders and reports a closed port
    // at once.
    socket.connect(server.port, server.address, (error?: Error) => {
      // Without a route to the server, as on a machine that has no network now, the socket is not connected,
      // and sending throws, which no one catches.
      if (error) fail(error);
      else if (!isOver) socket.send(query, (unsent) => unsent && fail(unsent));
    });
  });

const overTcp = (server: NameServer, query: Buffer, question: Question, timeoutMs: number): Promise<Packet> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    let received = Buffer.alloc(0);
    const fail = (reason: string) => end(() => reject(new Error(reason)));
    const timer = setTimeout(() => fail('no answer in time over TCP'), timeoutMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    socket.on('error', ({ message }) => fail(message));
    socket.on('close', () => fail('the connection was closed'));
    socket.on('connect', () => socket.write(Buffer.concat([lengthOf(query), query])));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const answer = answerIn(received.subarray(2, 2 + received.readUInt16BE(0)), query, question);
      if (answer) end(() => resolve(answer));
      else fail('an answer that cannot be read');
    });
  });

// RFC 1035 4.2.2: over TCP each message is preceded by its length.
const lengthOf = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return length;
};
