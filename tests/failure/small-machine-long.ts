// Shows that a service in a container of little memory refuses what does not fit, and is not ended by the
// kernel:
//
//   POSTHORN_EXECUTABLE=dist/posthorn bun tests/failure/small-machine-long.ts [--mib 512] [--clients 16] [--postgres] [--help]
//
// Many clients send the largest emails at once, as JSON and as raw messages, and repeat what is refused with
// 503; then a file of 48 MB of contacts is imported. It needs root and control groups, of either version. It
// takes three minutes.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, startService, TEST_KEY } from '../support/service.ts';

const USAGE =
  'bun tests/failure/small-machine-long.ts [--mib 512] [--clients 16] [--postgres]\n  --mib       the memory of the container\n  --clients   how many send at once\n  --postgres  with a PostgreSQL beside the container, not the embedded database';
const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '512' },
    clients: { type: 'string', default: '16' },
    postgres: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const MIB = 1_048_576;
const [mib, clients] = [Number(values.mib), Number(values.clients)];

/** The files of a control group of memory, by the version of them that this machine has. */
const isSecond = existsSync('/sys/fs/cgroup/cgroup.controllers');
const folder = `/sys/fs/cgroup/${isSecond ? '' : 'memory/'}posthorn-small-${process.pid}`;
const files = isSecond
  ? { limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' }
  : { limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes', kills: 'memory.oom_control' };
try {
  mkdirSync(folder);
  writeFileSync(`${folder}/${files.limit}`, String(mib * MIB));
} catch (error) {
  console.error(`Not run: no control group can be made here (${(error as Error).message}).`);
  process.exit(1);
}
const read = (name: keyof typeof files): string => readFileSync(`${folder}/${files[name]}`, 'utf8');
const kills = (): number => Number(/^oom_kill (\d+)/m.exec(read('kills'))?.[1] ?? 0);

await using stack = new AsyncDisposableStack();
stack.defer(() => rmdirSync(folder));
const cluster = values.postgres === true ? await startCluster() : null;
if (cluster) stack.defer(() => cluster.stop());
const service = stack.use(
  await startService({
    command: ['/bin/sh', '-c', `echo $$ > ${folder}/cgroup.procs; exec "$0" "$@"`, ...COMMAND],
    env: {
      PROFILE: 'development',
      DEFAULT_PLAN: 'unlimited',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      ...(cluster && { DATABASE_URL: cluster.url, SECRET_KEY: 'only-for-this-run-only-for-this-run' }),
    },
  }),
);
const authorization = `Bearer ${TEST_KEY}`;

const CONTENT = Buffer.alloc(17_000_000, 'a large file').toString('base64');
const PARTS = { from: 'shop@sender.example', to: 'delivered@simulator.svc.test', subject: 'A large file' };
const FORMS = {
  'as JSON': {
    path: '/v1/emails',
    type: 'application/json',
    body: JSON.stringify({
      ...PARTS,
      text: 'Here it is.',
      attachments: [{ filename: 'a.bin', content: CONTENT }],
    }),
  },
  'as a raw message': {
    path: '/v1/emails/raw',
    type: 'message/rfc822',
    body: [
      `From: ${PARTS.from}`,
      `To: ${PARTS.to}`,
      `Subject: ${PARTS.subject}`,
      'Content-Type: application/octet-stream',
      'Content-Transfer-Encoding: base64',
      '',
      CONTENT.replace(/.{76}/g, '$&\r\n'),
    ].join('\r\n'),
  },
};

for (const [form, { path, type, body }] of Object.entries(FORMS)) {
  let refused = 0;
  /** The answer, unless it asks to try again. */
  const answerOf = async (): Promise<string | undefined> => {
    const headers = { authorization, 'content-type': type };
    const answer = await fetch(service.url + path, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status !== 503) return answer.status === 202 ? 'accepted' : `${answer.status} ${text}`;
    refused += 1;
    return undefined;
  };
  const sendOne = async (): Promise<void> => {
    const answer = await eventually('the email is accepted', answerOf, { withinMs: 600_000, everyMs: 1_000 });
    if (answer !== 'accepted') throw new Error(answer);
  };
  await Promise.all(Array.from({ length: clients }, sendOne));
  console.log(
    `${clients} emails of ${Math.round(body.length / MIB)} MiB ${form}: all accepted, ${refused} times 503 before it.`,
  );
}

const row = (n: number): string =>
  `person${n}@people.example,First${n},Last${n},A city with a long name ${n}`;
const file = ['email,first_name,last_name,city', ...Array.from({ length: 600_000 }, (_, n) => row(n))].join(
  '\n',
);
const stored = await fetch(`${service.url}/v1/contacts/import`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'text/csv' },
  body: file.slice(0, file.lastIndexOf('\n', 48_000_000)),
});
if (stored.status !== 202)
  throw new Error(`The import was answered ${stored.status}: ${await stored.text()}`);
const { data } = (await stored.json()) as { data: { id: string } };
const api = createClient(service.url, TEST_KEY);
const imported = await eventually(
  'a fifth of the file is imported',
  async () => {
    const { body } = await api.get(`/v1/contacts/imports/${data.id}`);
    return body.data.counts.created >= 100_000 ? body.data.counts.created : undefined;
  },
  { withinMs: 600_000 },
);
console.log(`A file of 48 MB: ${imported} contacts so far.`);
console.log(
  `The container has ${mib} MiB; ${Math.round(Number(read('peak')) / MIB)} were used at most, with the cache of its files.`,
);
if (kills() > 0) throw new Error(`The kernel ended ${kills()} processes of the container.`);
