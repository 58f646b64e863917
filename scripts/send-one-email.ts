import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../tests/support/client.ts';
import { eventually } from '../tests/support/eventually.ts';
import { startService, TEST_KEY } from '../tests/support/service.ts';

// Copies the executable alone into an empty folder, starts it there, and follows one email to `delivered`.

const executable = process.argv[2];
if (executable === undefined) throw new Error('Name the executable: send-one-email.ts <path>');
const home = mkdtempSync(join(tmpdir(), 'posthorn-alone-'));
const alone = join(home, 'posthorn');
copyFileSync(executable, alone);

const begin = performance.now();
const seconds = () => ((performance.now() - begin) / 1000).toFixed(1);
try {
  await using service = await startService({ command: [alone], cwd: home, dataDir: join(home, 'data') });
  console.log(`Serving after ${seconds()} s.`);
  const client = createClient(service.url, TEST_KEY);
  const accepted = await client.post('/v1/emails', {
    from: 'ci@example.com',
    to: 'delivered@simulator.svc.test',
    subject: 'One email',
    text: 'From a standalone executable.',
  });
  if (accepted.status !== 202) throw new Error(`Not accepted: ${JSON.stringify(accepted)}`);
  const { id } = accepted.body.data;
  await eventually(`${id} delivered`, async () => {
    const { body } = await client.get(`/v1/emails/${id}`);
    return body.data.status === 'delivered' ? true : undefined;
  });
  console.log(`${id} is delivered after ${seconds()} s.`);
  const code = await service.stop();
  if (code !== 0) throw new Error(`Stopped with ${code}:\n${service.output()}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
