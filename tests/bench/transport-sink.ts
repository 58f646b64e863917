/** An SMTP server that accepts everything as fast as it can, in a process of its own. Prints its port. */
interface Conversation {
  inData: boolean;
  pending: string;
}

const server = Bun.listen<Conversation>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { inData: false, pending: '' };
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

const read = (conversation: Conversation): string => {
  let replies = '';
  for (;;) {
    const end = conversation.pending.indexOf(conversation.inData ? '\r\n.\r\n' : '\r\n');
    if (end < 0) return replies;
    if (conversation.inData) {
      conversation.pending = conversation.pending.slice(end + 5);
      conversation.inData = false;
      replies += '250 2.0.0 Ok: queued\r\n';
    } else {
      const verb = conversation.pending.slice(0, 4);
      conversation.pending = conversation.pending.slice(end + 2);
      conversation.inData = verb === 'DATA';
      replies += REPLIES[verb] ?? '250 Ok\r\n';
    }
  }
};

console.log(server.port);
