import { expect, test } from 'bun:test';
import { openWorkspace, zoneOf } from './a-workspace.ts';

const error = (status: number, type: string) =>
  Response.json({ message: 'no' }, { status, headers: { 'x-amzn-errortype': type } });

/** As much of SES as domains need: one identity, whose state the test decides. */
function startSes() {
  const ses = {
    asked: [] as string[],
    bodies: [] as Record<string, unknown>[],
    status: 'PENDING',
    known: false,
    down: false,
    selector: '',
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      ses.asked.push(`${request.method} ${pathname}`);
      if (ses.down) return new Response('no', { status: 503 });
      if (request.method === 'PUT') {
        const body = (await request.json()) as { SigningAttributes: { DomainSigningSelector: string } };
        ses.bodies.push(body);
        ses.selector = body.SigningAttributes.DomainSigningSelector;
        return Response.json({});
      }
      if (request.method === 'POST') {
        const body = (await request.json()) as { DkimSigningAttributes: { DomainSigningSelector: string } };
        ses.bodies.push(body);
        if (ses.known) return error(400, 'AlreadyExistsException');
        ses.selector = body.DkimSigningAttributes.DomainSigningSelector;
        ses.known = true;
        return Response.json({});
      }
      if (!ses.known) return error(404, 'NotFoundException');
      const verified = ses.status === 'SUCCESS';
      return Response.json({
        VerifiedForSendingStatus: verified,
        DkimAttributes: { Status: ses.status, Tokens: [ses.selector] },
      });
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
  // SES signs with the RSA key alone, and has its own return path.
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
});

const SES = { sesRegion: 'eu-west-1', awsAccessKeyId: 'AK', awsSecretAccessKey: 'SK' };

test('a rotation tells SES of the new key when its record is there, and switches only if SES has taken it', async () => {
  const { ses, server } = startSes();
  ses.status = 'SUCCESS';
  await using at = await openWorkspace({ transport: ['ses'], ...SES, sesEndpoint: server.url.origin });
  const { id, dnsRecords } = await at.add('turn.test');
  at.dns.zone = zoneOf(dnsRecords);
  const look = async () => {
    at.clock.time += 60_000;
    return at.verify(id);
  };
  const before = await look();
  const old = before.dkimKeys[0]?.selector ?? '';
  const asked = await at.rotate(id);
  const next = asked.dkimKeys[0]?.selector ?? '';
  // SES has no use for the Ed25519 key.
  expect(asked.dnsRecords.map(({ purpose, required }) => [purpose, required])).toEqual([
    ['dkim', true],
    ['dkim', false],
    ['dmarc', false],
  ]);
  ses.bodies.length = 0;
  await look();
  expect({ bodies: ses.bodies, selector: ses.selector }).toEqual({ bodies: [], selector: old });

  at.dns.zone = zoneOf(asked.dnsRecords);
  ses.down = true;
  expect((await look()).dkimKeys.map(({ status }) => status)).toEqual(['pending', 'active']);
  ses.down = false;
  const after = await look();
  expect(after).toMatchObject({ status: 'verified', dkimKeys: [{ selector: next, status: 'active' }, {}] });
  expect(ses.selector).toBe(next);
  expect(ses.bodies.at(-1)).toMatchObject({
    SigningAttributesOrigin: 'EXTERNAL',
    SigningAttributes: { DomainSigningPrivateKey: expect.stringMatching(/^[A-Za-z0-9+/=]{1000,}$/) },
  });
  const told = ses.bodies.length;
  await look();
  expect(ses.bodies).toHaveLength(told);
  await server.stop(true);
});

test('a domain is registered when it goes over to SES, with the key that signs then', async () => {
  const { ses, server } = startSes();
  Object.assign(ses, { status: 'SUCCESS', known: true, selector: 'of-an-earlier-life' });
  await using at = await openWorkspace({
    transport: ['direct', 'ses'],
    ...SES,
    sesEndpoint: server.url.origin,
  });
  const { id, dnsRecords, dkimKeys } = await at.add('moves.test');
  at.dns.zone = zoneOf(dnsRecords);
  expect(await at.verify(id)).toMatchObject({ provider: 'direct', status: 'verified' });
  expect(ses.asked).toEqual([]);
  at.clock.time += 60_000;
  const moved = await at.patch(id, { provider: 'ses' });
  expect(moved).toMatchObject({ provider: 'ses', status: 'verified' });
  at.clock.time += 60_000;
  expect(await at.verify(id)).toMatchObject({ provider: 'ses', status: 'verified' });
  expect(ses.selector).toBe(dkimKeys[0]?.selector ?? '');
  const asked = ses.asked.length;
  await at.patch(id, { provider: null });
  at.clock.time += 60_000;
  expect(await at.verify(id)).toMatchObject({ provider: 'direct', status: 'verified' });
  expect(ses.asked).toHaveLength(asked);
  await server.stop(true);
});

test('a domain that others use through the account keeps its key there until the record of ours is in DNS', async () => {
  const { ses, server } = startSes();
  Object.assign(ses, { status: 'SUCCESS', known: true, selector: 'of-somebody-else' });
  await using at = await openWorkspace({ transport: ['ses'], ...SES, sesEndpoint: server.url.origin });
  const { id, dnsRecords, dkimKeys } = await at.add('corp.test');
  const look = async () => {
    at.clock.time += 60_000;
    return at.verify(id);
  };
  const written = () => ses.asked.filter((asked) => asked.startsWith('PUT'));
  expect((await look()).status).toBe('pending');
  // Everything but the record that proves it.
  const [{ name = '' } = {}] = dnsRecords;
  at.dns.zone = { ...zoneOf(dnsRecords), [`${name} TXT`]: 'nxdomain' };
  expect((await look()).status).toBe('pending');
  expect({ written: written(), selector: ses.selector }).toEqual({
    written: [],
    selector: 'of-somebody-else',
  });

  at.dns.zone = zoneOf(dnsRecords);
  expect((await look()).status).toBe('verified');
  expect(ses.selector).toBe(dkimKeys[0]?.selector ?? '');
  await look();
  expect(written()).toHaveLength(1);
  await server.stop(true);
});
