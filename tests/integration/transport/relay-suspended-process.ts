import { relayTo } from '../../support/live-service.ts';
import { aMessage } from '../../unit/transport/a-message.ts';

// Sends one message to the server on the port, whose silence it suffers for so long, and prints what became
// of it. The test stops this process on the way.

const [port = '', silenceMs = ''] = process.argv.slice(2);
const relay = relayTo(Number(port), Number(silenceMs));
const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const [sent] = await relay.send(aMessage({}), limits);
console.log(sent?.outcome, sent?.response);
await relay.close();
