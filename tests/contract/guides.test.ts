import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { GUIDES, guideFor } from '../../src/web/docs/guides.ts';
import type { Installation, SmtpSecurity } from '../../src/web/docs/installation.ts';
import { guidePage } from '../../src/web/docs/pages/guide-page.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startServiceOnServer, TEST_KEY } from '../support/service.ts';
import { TRIALS, type Trial } from './guide-trials.ts';

// Inside the repository: there the snippet for Node.js finds the packages that it imports.
const FOLDER = join(import.meta.dir, '../artefacts/guides');
const SECURITIES: readonly SmtpSecurity[] = ['implicit', 'starttls'];

/** A service whose guides lead to the port of one security. */
async function serviceWith(security: SmtpSecurity, folder: string): Promise<Service> {
  const [port, plain, tls] = await Promise.all([freePort(), freePort(), freePort()]);
  return startServiceOnServer({
    port,
    env: {
      PUBLIC_URL: `http://localhost:${port}`,
      SUBMISSION_PORT: String(plain),
      ...(security === 'implicit' && { SUBMISSION_TLS_PORT: String(tls) }),
      SUBMISSION_TLS_CERT: join(folder, 'cert.pem'),
      SUBMISSION_TLS_KEY: join(folder, 'key.pem'),
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
    },
  });
}

/** The lines under a caption of a guide, as a reader copies them. */
function linesOf(page: string, file: string): string {
  const figures = page
    .split('<figure class="snippet"')
    .filter((each) => each.startsWith(` data-file="${file}"`));
  expect([file, figures.length]).toEqual([file, 1]);
  const [, code = ''] = /<code>([\s\S]*?)<\/code>/.exec(figures[0] ?? '') ?? [];
  return decoded(code.replace(/<[^>]*>/g, ''));
}

const decoded = (text: string): string =>
  text.replace(/&(lt|gt|quot|#x27|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '');
const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  amp: '&',
  '#x27': "'",
  '#39': "'",
};

const isHere = ({ needs }: Trial): boolean => {
  if (needs === undefined) return true;
  try {
    return Bun.spawnSync([...needs]).success;
  } catch {
    return false;
  }
};

describe.each(SECURITIES)('the lines of the guides, where the SMTP port has %s TLS', (security) => {
  let service: Service;
  let folder: string;

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    folder = mkdtempSync(join(FOLDER, `${security}-`));
    writeFileSync(join(folder, 'authority.pem'), AUTHORITY);
    writeFileSync(join(folder, 'cert.pem'), CERTIFICATE);
    writeFileSync(join(folder, 'key.pem'), PRIVATE_KEY);
    service = await serviceWith(security, folder);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const emails = async (): Promise<readonly Record<string, unknown>[]> => {
    const reply = await fetch(`${service.url}/v1/emails?limit=100`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
    });
    return ((await reply.json()) as { data: Record<string, unknown>[] }).data;
  };

  for (const trial of TRIALS.filter(({ over }) => over === 'SMTP' || security === 'implicit')) {
    const name = `${trial.guide}: ${trial.files.join(', ')}`;
    const missing = !isHere(trial);
    if (missing && security === 'implicit')
      console.log(`Not shown here: the lines of ${name}, since \`${trial.needs?.join(' ')}\` fails.`);
    test.skipIf(missing)(`${name}: run twice, sends one email`, async () => {
      const page = await (await fetch(`${service.url}/docs/guides/${trial.guide}`)).text();
      const place = mkdtempSync(join(folder, 'trial-'));
      const lines = trial.files.map((file) => [file, linesOf(page, file)] as const);
      for (const [file, text] of [...lines, ...Object.entries(trial.around ?? {})]) {
        mkdirSync(dirname(join(place, file)), { recursive: true });
        writeFileSync(join(place, file), text);
      }
      const before = (await emails()).length;
      for (const _ of ['the first time', 'the second time']) {
        const run = Bun.spawn([...trial.command], {
          cwd: place,
          stdout: 'pipe',
          stderr: 'pipe',
          env: {
            PATH: process.env.PATH ?? '',
            HOME: place,
            POSTHORN_API_KEY: TEST_KEY,
            // One compilation serves every trial.
            GOCACHE: join(FOLDER, 'go-cache'),
            // The authority of tests, in the words of each language.
            NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
            SSL_CERT_FILE: join(folder, 'authority.pem'),
            CURL_CA_BUNDLE: join(folder, 'authority.pem'),
          },
        });
        const [said, complained] = await Promise.all([
          new Response(run.stdout).text(),
          new Response(run.stderr).text(),
        ]);
        expect({ exit: await run.exited, said, complained }).toMatchObject({ exit: 0 });
      }
      const after = await emails();
      expect(after.length - before).toBe(1);
      expect(after[0]).toMatchObject({
        from: 'Acme <hello@acme.example>',
        to: ['delivered@simulator.svc.test'],
        livemode: false,
        subject: expect.stringContaining('Your receipt') as unknown as string,
      });
      await eventually('the delivery', async () => (await emails())[0]?.status === 'delivered' || undefined);
    });
  }
});

describe('a guide', () => {
  const installation = (more: Partial<Installation> = {}): Installation => ({
    baseUrl: 'https://mail.example.com',
    host: 'mail.example.com',
    port: 465,
    simulator: 'sim.example',
    security: 'implicit',
    takesSmtp: true,
    ...LONGEST_RETENTION,
    ...more,
  });
  const written = (more: Partial<Installation> = {}) =>
    GUIDES.map((guide) => [guide.path, guideFor(guide, installation(more))] as const);

  test.each(written())('%s names the settings, a test key, repetition and webhooks', (_path, text) => {
    for (const part of [
      'svc_test_',
      'delivered@sim.example',
      'Idempotency-Key',
      '/docs/webhooks',
      '/app/live/domains',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/\{[{%]/);
  });

  test.each(written({ takesSmtp: false }))('%s says so when no SMTP port is open', (_path, text) => {
    if (text.includes('| Port |')) expect(text).toContain('SUBMISSION_TLS_PORT');
  });

  test.each(written({ security: 'none', port: 2525 }))('%s warns of a port without TLS', (_path, text) => {
    if (text.includes('| Port |')) expect(text).toContain('clear text');
    expect(text).not.toMatch(/starttls\(|SMTP_SSL|secure: true|requireTLS/);
  });

  test('has a page with its code as it was written, whatever signs are in it', () => {
    const code = 'if (a < b && c > "d") {}\n\n<script>{{ x }}</script>';
    const { content } = guidePage('X', '/docs/guides/curl', `# X\n\n\`\`\`js x.js\n${code}\n\`\`\`\n`);
    expect(linesOf(String(content), 'x.js')).toBe(code);
    expect(String(content)).not.toContain('<script>{{');
  });
});
