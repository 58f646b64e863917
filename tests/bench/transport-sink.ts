import { parseArgs } from 'node:util';

/**
 * An SMTP server that accepts everything as fast as it can, in a separate process. Prints its port, and with
 * `--tell PREFIX` a line for each message to an address that begins so: the address, and when it was taken.
 */
interface Conversation {
  inData: boolean;
  pending: string;
  /** The recipient that is reported. */
  told: string | null;
}

const { values } = parseArgs({ options: { tell: { type: 'string' } } });
const TOLD = values.tell === undefined ? null : new RegExp(`^RCPT TO:<(${values.tell}[^>]*)>`, 'i');

const server = Bun.listen<Conversation>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { inData: false, pending: '', told: null };
      socket.write('220 sink.test ESMTP\r\n');
    },
    data(socket, chunk) {
      const conversation = socket.data;
      conversation.pending += chunk.toString('latin1');
      const replies = read(conversation);
      if (replies !== '') socket.write(replies);
    },
  },
});

const REPLIES: Readonly<Record<string, string>> = {
  EHLO: '250-sink.test\r\n250-PIPELINING\r\n250 8BITMIME\r\n',
  MAIL: '250 2.1.0 Ok\r\n',
  RCPT: '250 2.1.5 Ok\r\n',
  DATA: '354 Go ahead\r\n',
  QUIT: '221 Bye\r\n',
};

const END = '\r\n.\r\n';

const read = (conversation: Conversation): string => {
  let replies = '';
  for (;;) {
    const end = conversation.pending.indexOf(conversation.inData ? END : '\r\n');
    if (end < 0) {
      // Of a message nothing is kept but what may begin its end: 25 MB would be searched again with every
      // packet.
      if (conversation.inData) conversation.pending = conversation.pending.slice(1 - END.length);
      return replies;
    }
    if (conversation.inData) {
      conversation.pending = conversation.pending.slice(end + 5);
      conversation.inData = false;
      if (conversation.told !== null)
        console.log(`${conversation.told} ${performance.timeOrigin + performance.now()}`);
      conversation.told = null;
      replies += '250 2.0.0 Ok: queued\r\n';
    } else {
      const verb = conversation.pending.slice(0, 4);
      if (TOLD && verb === 'RCPT')
        conversation.told = TOLD.exec(conversation.pending.slice(0, end))?.[1] ?? null;
      conversation.pending = conversation.pending.slice(end + 2);
      conversation.inData = verb === 'DATA';
      replies += REPLIES[verb] ?? '250 Ok\r\n';
    }
  }
};

console.log(server.port);
