import { expect, test } from 'bun:test';
import { openWorkspace, zoneOf } from './a-workspace.ts';

/** As much of SES as domains need: one identity, whose state the test decides. */
function startSes() {
  const ses = {
    asked: [] as string[],
    bodies: [] as Record<string, unknown>[],
    status: 'PENDING',
    known: false,
    down: false,
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      ses.asked.push(`${request.method} ${pathname}`);
      if (ses.down) return new Response('no', { status: 503 });
      if (request.method === 'POST') {
        ses.bodies.push((await request.json()) as Record<string, unknown>);
        ses.known = true;
        return Response.json({});
      }
      if (!ses.known)
        return Response.json(
          { message: 'none' },
          { status: 404, headers: { 'x-amzn-errortype': 'NotFoundException' } },
        );
      const verified = ses.status === 'SUCCESS';
      return Response.json({ VerifiedForSendingStatus: verified, DkimAttributes: { Status: ses.status } });
    },
  });
  return { ses, server };
}

test('with SES the domain is registered there with our key, and both must agree', async () => {
  const { ses, server } = startSes();
  await using at = await openWorkspace({
    transport: ['ses'],
    sesRegion: 'eu-west-1',
    sesEndpoint: server.url.origin,
    awsAccessKeyId: 'AK',
    awsSecretAccessKey: 'SK',
  });
  const { id, dnsRecords, provider } = await at.add('shop.test');
  expect(provider).toBe('ses');
  // SES signs with the RSA key alone, and has a return path of its own.
  expect(dnsRecords.map(({ purpose }) => purpose)).toEqual(['dkim', 'dmarc']);
  expect(ses.asked.slice(0, 2)).toEqual(['POST /v2/email/identities', 'GET /v2/email/identities/shop.test']);
  const attributes = ses.bodies[0]?.DkimSigningAttributes as Record<string, string>;
  expect(ses.bodies[0]?.EmailIdentity).toBe('shop.test');
  expect(`${attributes.DomainSigningSelector}._domainkey.shop.test`).toBe(dnsRecords[0]?.name ?? '');
  expect(attributes.DomainSigningPrivateKey).toMatch(/^[A-Za-z0-9+/=]{1000,}$/);

  at.dns.zone = zoneOf(dnsRecords);
  const look = async (status: string) => {
    ses.status = status;
    at.clock.time += 60_000;
    return at.verify(id);
  };
  const waiting = await look('PENDING');
  expect(waiting.status).toBe('pending');
  expect(waiting.dnsRecords[0]?.error).toContain('Amazon SES has not confirmed it yet');
  expect((await look('FAILED')).status).toBe('failed');
  expect((await look('SUCCESS')).status).toBe('verified');
  expect((await look('TEMPORARY_FAILURE')).status).toBe('temporaryFailure');
  expect((await look('SUCCESS')).status).toBe('verified');
  ses.down = true;
  expect((await look('SUCCESS')).status).toBe('temporaryFailure');
  ses.down = false;

  // Lost at the provider: it is registered again.
  ses.known = false;
  ses.bodies.length = 0;
  await look('SUCCESS');
  expect(ses.bodies).toHaveLength(1);
  await server.stop(true);
}, 30_000);
