// Sends generated templates with layouts, partials and translations on every way, and compares the bytes:
//
//   bun tests/failure/generated-templates-long.ts [--count 500] [--from 0] [--languages 2]
//
// A preview, a test, a single email, a batch, SMTP by header, a flow and a campaign have to give the same
// subject, html and text, and the first version of a template what it gave, after its layers have changed. It
// prints each difference, and ends with an error then.
import { parseArgs } from 'node:util';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { sameBytes } from '../integration/same-bytes.ts';
import { startCluster } from '../support/cluster.ts';
import { startLiveService } from '../support/live-service.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '500' },
    from: { type: 'string', default: '0' },
    /** Languages in which each template is asked for, besides none. */
    languages: { type: 'string', default: '2' },
  },
});
const [count, from, others] = [values.count, values.from, values.languages].map(Number) as [
  number,
  number,
  number,
];

await using stack = new AsyncDisposableStack();
const cluster = await startCluster();
stack.defer(() => cluster.stop());
const smtpPort = await freePort();
const service = stack.use(
  await startLiveService({
    environment: {
      DATABASE_URL: cluster.url,
      SUBMISSION_PORT: String(smtpPort),
      RATE_LIMIT_PREVIEW: '0',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      TEST_SENDS_PER_DAY: '0',
    },
  }),
);
const { compared, differences } = await sameBytes(service, {
  smtpPort,
  from,
  count,
  others,
  say: console.log,
});
for (const { seed, way, expected, got } of differences)
  console.log(`Template ${seed}, ${way}:\n  the preview has ${expected}\n  it has          ${got}`);
console.log(`${count} templates, ${compared} comparisons, ${differences.length} differences.`);
process.exitCode = differences.length === 0 ? 0 : 1;
