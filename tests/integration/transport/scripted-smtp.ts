import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The server's act at a step: a reply, a hang-up, or silence for ever. */
export type Act = string | typeof DROP | typeof SILENCE;
export const DROP = Symbol('drop');
export const SILENCE = Symbol('silence');

/** The differences from a server that accepts everything. */
export interface Script {
  greeting?: Act | (() => Act);
  ehlo?: Act;
  mail?: Act | (() => Act);
  rcpt?: Act | ((command: string) => Act);
  data?: Act;
  /** Said after the final dot. */
  dot?: Act | (() => Act);
  rset?: Act;
  /** Wait before each reply. */
  delayMs?: number;
  /** Say every reply octet by octet, so far apart. */
  dripMs?: number;
  /** Read a little of what comes, and then nothing for so long. */
  sipMs?: number;
  /** Hang up after so many octets of the message, before the dot. */
  dropInData?: number;
}

/** A server for faults that a well-behaved library does not offer: it can fall silent or hang up anywhere. */
export interface ScriptedSmtp extends AsyncDisposable {
  readonly port: number;
  readonly commands: string[];
  readonly messages: string[];
  connections: number;
  script: Script;
  /** Hangs up on everyone who is connected. */
  dropAll(): void;
}

const ACCEPTING = {
  greeting: '220 scripted.test ESMTP',
  ehlo: '250-scripted.test\r\n250-PIPELINING\r\n250 8BITMIME',
  mail: '250 2.1.0 Ok',
  rcpt: '250 2.1.5 Ok',
  data: '354 go ahead',
  dot: '250 2.0.0 Ok: queued',
  rset: '250 2.0.0 Ok',
};

/** Starts one on a free port of the given address. */
export const startScriptedSmtp = async (
  script: Script = {},
  { host = '127.0.0.1', port = 0 } = {},
): Promise<ScriptedSmtp> => {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    server.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    converse(socket, server);
  }).listen(port, host);
  await once(listener, 'listening');
  const server: ScriptedSmtp = {
    port: (listener.address() as AddressInfo).port,
    commands: [],
    messages: [],
    connections: 0,
    script,
    dropAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.dropAll();
      listener.close();
      await once(listener, 'close');
    },
  };
  return server;
};

const converse = (socket: Socket, server: ScriptedSmtp) => {
  let pending = '';
  let inData = false;
  let silent = false;
  let accepted = 0;
  let unsaid = '';
  const drip = (line: string, everyMs: number) => {
    const isDripping = unsaid !== '';
    unsaid += line;
    const next = () => {
      socket.write(unsaid.slice(0, 1));
      unsaid = socket.writable ? unsaid.slice(1) : '';
      if (unsaid !== '') setTimeout(next, everyMs);
    };
    if (!isDripping) next();
  };
  const act = (what: Act | ((command: string) => Act), command = '') => {
    const acted = typeof what === 'function' ? what(command) : what;
    if (acted === DROP) socket.end();
    if (acted === SILENCE) silent = true;
    const { delayMs, dripMs } = server.script;
    const line = `${String(acted)}\r\n`;
    const say = () => (dripMs === undefined ? socket.write(line) : drip(line, dripMs));
    if (typeof acted === 'string' && !silent) {
      if (delayMs === undefined) say();
      else setTimeout(say, delayMs);
    }
    return acted;
  };
  const step = (name: keyof typeof ACCEPTING, command?: string) =>
    act(server.script[name] ?? ACCEPTING[name], command);
  const onMessage = (): boolean => {
    const end = `\r\n${pending}`.indexOf('\r\n.\r\n');
    if (end < 0) {
      if (pending.length >= (server.script.dropInData ?? Number.POSITIVE_INFINITY)) socket.destroy();
      return false;
    }
    server.messages.push(pending.slice(0, end));
    pending = pending.slice(end + 3);
    inData = false;
    step('dot');
    return true;
  };
  const onCommand = (): boolean => {
    const end = pending.indexOf('\r\n');
    if (end < 0) return false;
    const command = pending.slice(0, end);
    pending = pending.slice(end + 2);
    server.commands.push(command);
    const verb = command.slice(0, 4).toLowerCase();
    if (verb === 'mail') accepted = 0;
    if (verb === 'quit') socket.end('221 bye\r\n');
    else if (verb === 'data' && accepted === 0) act('554 5.5.1 No valid recipients');
    else {
      const said = verb in ACCEPTING ? step(verb as keyof typeof ACCEPTING, command) : act('502 no');
      if (verb === 'rcpt' && String(said).startsWith('2')) accepted += 1;
      inData = said === ACCEPTING.data;
    }
    return true;
  };
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    if (inData && server.script.sipMs !== undefined) {
      socket.pause();
      setTimeout(() => socket.resume(), server.script.sipMs);
    }
    while (socket.writable && (inData ? onMessage() : onCommand()));
  });
  step('greeting');
};
