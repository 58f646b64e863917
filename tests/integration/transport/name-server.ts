import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type DNS from 'dns2';
import { Packet } from 'dns2';
import type { NameServer, RecordType } from '../../../src/mail/dns/exchange.ts';

/**
 * The answer to one question: records, which have the TTL 0 unless they say another one, or one of the ways
 * of no answer.
 */
export type Say =
  | readonly Partial<DNS.Packet.Resource>[]
  | { readonly rcode: number; readonly zone: Partial<DNS.Packet.Resource> }
  | 'nxdomain'
  | 'servfail'
  | 'refused'
  | 'silence'
  | 'garbage'
  | 'another question';

/**
 * A zone: `name type` to what is said. A name that occurs with another type has no data; any other does not
 * exist.
 */
export type Zone = Record<string, Say>;

/**
 * A name server of the tests' own, over UDP and TCP (dns2 packs and unpacks), that answers from `zone` alone.
 */
export interface TestNameServer extends AsyncDisposable {
  readonly server: NameServer;
  zone: Zone;
  /** `UDP name type`, in order. */
  readonly asked: string[];
}

/**
 * There is nothing, which may be remembered for so long (RFC 2308); `isMissing` where the name is not there
 * at all.
 */
export const nothing = (ttl: number, minimum: number, isMissing = true) => ({
  rcode: isMissing ? Packet.RCODE.NXDOMAIN : Packet.RCODE.NOERROR,
  zone: {
    type: Packet.TYPE.SOA,
    name: 'test',
    ttl,
    primary: 'ns.test',
    admin: 'hostmaster.test',
    serial: 1,
    refresh: 1,
    retry: 1,
    expiration: 1,
    minimum,
  },
});

export const mx = (exchange: string, priority: number) => ({ type: Packet.TYPE.MX, exchange, priority });
export const a = (address: string) => ({ type: Packet.TYPE.A, address });
export const aaaa = (address: string) => ({ type: Packet.TYPE.AAAA, address });
export const cname = (domain: string) => ({ type: Packet.TYPE.CNAME, domain });
export const ptr = (domain: string) => ({ type: Packet.TYPE.PTR, domain });
export const txt = (...data: string[]) => ({ type: Packet.TYPE.TXT, data });

/** Starts one on that port, or a free one. */
export const startNameServer = async (zone: Zone = {}, wanted = 0): Promise<TestNameServer> => {
  const udp = createSocket('udp4');
  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      const reply = answer(chunk.subarray(2), 'TCP');
      if (reply === null) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.end(Buffer.concat([length, reply]));
    });
  }).listen(wanted, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');

  const running: TestNameServer = {
    server: { address: '127.0.0.1', port },
    zone,
    asked: [],
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
      await once(tcp, 'close');
    },
  };

  const answer = (message: Buffer, over: 'UDP' | 'TCP'): Buffer | null => {
    const query = Packet.parse(message);
    const [question] = query.questions;
    if (!question) return null;
    const type = Packet.typeName(question.type);
    running.asked.push(`${over} ${question.name} ${type}`);
    return reply(query, said(question.name, type as RecordType), over);
  };

  const said = (name: string, type: RecordType): Say => {
    const key = name.toLowerCase();
    const exact = running.zone[`${key} ${type}`];
    if (exact !== undefined) return exact;
    return Object.keys(running.zone).some((entry) => entry.startsWith(`${key} `)) ? [] : 'nxdomain';
  };

  // An answer to a client that waits no more ended a bench after 920,000 messages, as ECONNREFUSED of the
  // next read.
  udp.on('error', () => {});
  udp.on('message', (message: Buffer, from: RemoteInfo) => {
    const packed = answer(message, 'UDP');
    if (packed) udp.send(packed, from.port, from.address);
  });
  return running;
};

const RCODES = { nxdomain: 3, servfail: 2, refused: 5 } as const;

const reply = (query: Packet, say: Say, over: 'UDP' | 'TCP'): Buffer | null => {
  if (say === 'silence') return null;
  if (say === 'garbage') return Buffer.from('garbage');
  const response = Packet.createResponseFromRequest(query);
  response.additionals = [];
  const [question] = response.questions;
  if (say === 'another question')
    response.questions = [new Packet.Question('elsewhere.test', question?.type, 1)];
  else if (typeof say === 'string') response.header.rcode = RCODES[say];
  else if ('rcode' in say) {
    response.header.rcode = say.rcode;
    response.authorities = [Object.assign(new Packet.Resource(say.zone.name), { class: 1 }, say.zone)];
  } else
    response.answers = say.map((record) =>
      Object.assign(new Packet.Resource(record.name ?? question?.name), { class: 1, ttl: 0 }, record),
    );
  const packed = response.toBuffer();
  // An answer over the client's 1,232 octets is cut, as a real server does.
  if (over === 'TCP' || packed.length <= 1_232) return packed;
  response.answers = [];
  response.header.tc = 1;
  return response.toBuffer();
};
