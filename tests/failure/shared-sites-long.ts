// Counts the connections of instances of the role `delivery` at one receiving server that answers slowly,
// while they come, go and die:
//   bun tests/failure/shared-sites-long.ts
// One instance alone may have all twenty. A second one comes, leaves by SIGTERM, comes again and is killed;
// the server counts throughout.
import { startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

const ALLOWED = 20;
/** The time that the server takes for a message. */
const SLOW_MS = 1_000;
const EMAILS = 3_000;

/** Messages that the server is taking, by the name of the instance. */
const taking = new Map<string, number>();
const count = (by: string, change: number): void => {
  taking.set(by, (taking.get(by) ?? 0) + change);
  most = Math.max(
    most,
    [...taking.values()].reduce((sum, each) => sum + each, 0),
  );
};
let most = 0;
await using sink = await startSink({
  onData(stream, session, done) {
    const by = session.hostNameAppearsAs;
    count(by, 1);
    stream.resume();
    stream.on('end', () =>
      setTimeout(() => {
        count(by, -1);
        done();
      }, SLOW_MS),
    );
  },
});
await using database = await createTestDatabase();
const env = {
  DATABASE_URL: database.url,
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  DEFAULT_PLAN: 'unlimited',
  LOG_LEVEL: 'warn',
};
{
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await startService({ env });
  await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  await first.stop();
}
const instance = (name: string): Promise<Service> =>
  startService({ env: { ...env, TRANSPORT: 'smtp', EHLO_NAME: name } });

/** The most that the server counted since the last question. */
const report: { readonly when: string; readonly most: number; readonly afterMs: number }[] = [];
async function until(when: string, wanted: Readonly<Record<string, number>>): Promise<void> {
  const begun = performance.now();
  most = 0;
  await eventually(when, () => {
    const isSo = Object.entries(wanted).every(([by, many]) => taking.get(by) === many);
    return isSo || undefined;
  });
  report.push({ when, most, afterMs: Math.round(performance.now() - begun) });
}

await using first = await instance('first.example');
const client = createClient(first.url, LIVE_KEY);
for (let sent = 0; sent < EMAILS; sent += 50)
  await client.post('/v1/emails/batch', {
    emails: Array.from({ length: 50 }, () => ({
      from: 'shop@sender.example',
      to: 'r@example.com',
      subject: 'Order',
      text: 'It is on its way.',
    })),
  });
await until('one alone', { 'first.example': ALLOWED });
{
  await using second = await instance('second.example');
  await until('a second one came', { 'first.example': ALLOWED / 2, 'second.example': ALLOWED / 2 });
  await second.stop();
}
await until('it left', { 'first.example': ALLOWED });
{
  await using third = await instance('third.example');
  await until('a third one came', { 'first.example': ALLOWED / 2, 'third.example': ALLOWED / 2 });
  await third.kill();
}
// The sockets of what was killed are closed, and what the server was taking of it is counted to its end.
await until('it was killed', { 'first.example': ALLOWED });
console.table(report);
const isRight = report.every((each) => each.most <= ALLOWED + 1);
console.log(isRight ? 'Never more than the limit, and one for who comes.' : 'WRONG: see above.');
process.exit(isRight ? 0 : 1);
