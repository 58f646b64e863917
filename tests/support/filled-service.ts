import { expect } from 'bun:test';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { tableDigests } from './table-digests.ts';

/** The email that is sent there. */
export const EMAIL = {
  from: 'a@acme.example',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  text: 'Hi',
};
/** The key that secrets are sealed with there. */
export const SECRET_KEY = 'only-for-tests-only-for-tests-only';

/** A service with some of everything, on the database of these settings. */
export async function fill(service: RealService, key: string): Promise<void> {
  for (let i = 0; i < 5; i++)
    await expectStatus(202, service.ask({ method: 'POST', path: '/v1/emails', key, body: EMAIL }));
  const later = new Date(Date.now() + 86_400_000).toISOString();
  await expectStatus(
    202,
    service.ask({ method: 'POST', path: '/v1/emails', key, body: { ...EMAIL, scheduledAt: later } }),
  );
  // Whatever COPY has to write otherwise: breaks, tabs, backslashes, what is outside of the first plane,
  // nothing.
  for (const [index, firstName] of [
    'Ada',
    'tab\there',
    'line\nbreak',
    'back\\slash \\N \\.',
    '🐎 Ünïcode',
    '',
  ].entries())
    await expectStatus(
      201,
      service.ask({
        method: 'POST',
        path: '/v1/contacts',
        key,
        body: { email: `c${index}@acme.example`, firstName },
      }),
    );
  const url = 'https://hooks.acme.example/';
  await expectStatus(
    201,
    service.ask({ method: 'POST', path: '/v1/webhooks', key, body: { url, events: ['bounced'] } }),
  );
}

/** Takes an answer of that status, and shows what another one says. */
export const expectStatus = async (
  status: number,
  asked: Promise<{ status: number; text: string }>,
): Promise<void> => {
  const answer = await asked;
  expect([answer.status, answer.status === status ? '' : answer.text]).toEqual([status, '']);
};

/** Everything but the place of the log, which is another one in every database that was restored. */
export const rowsOf = async (where: { url: string | null; dataDir: string | null }) => {
  const { event_log: _, ...rest } = await tableDigests(where);
  return rest;
};

/** A service with these settings. */
export const served = (environment: Record<string, string>): Promise<RealService> =>
  startRealService({ SECRET_KEY, ...environment });
