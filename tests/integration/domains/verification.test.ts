import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { DomainView } from '../../../src/sending/domains/model.ts';
import { findDomainOfEmail, findSendingDomain, signingKeys } from '../../../src/sending/domains/queries.ts';
import { cname, txt } from '../transport/name-server.ts';
import { openWorkspace, type Workspace, zoneOf } from './a-workspace.ts';

let at: Workspace;
beforeAll(async () => {
  at = await openWorkspace();
});
afterAll(() => at[Symbol.asyncDispose]());

const HOUR = 3_600_000;
const recordOf = (view: DomainView, purpose: string) => {
  const found = view.dnsRecords.find((record) => record.purpose === purpose);
  if (!found) throw new Error(`no record for ${purpose}`);
  return found;
};
const sender = (name: string) => findSendingDomain(at.database, at.workspaceId, name);

/** Verified, with every record in DNS. */
async function verified(name: string): Promise<DomainView> {
  const domain = await at.add(name, { trackingSubdomain: 'links' });
  at.dns.zone = zoneOf(domain.dnsRecords);
  return at.verify(domain.id);
}

describe('the way to verification', () => {
  test('nothing there, then a wrong value, an alias, two policies, silence, and at last all of it', async () => {
    const { id, dnsRecords } = await at.add('way.test');
    const right = zoneOf(dnsRecords);
    const [dkim, spf] = [dnsRecords[0]?.name ?? '', 'send.way.test'];
    const look = async (zone: typeof right) => {
      at.dns.zone = { ...right, ...zone };
      at.clock.time += 60_000;
      return at.verify(id);
    };
    at.dns.zone = {};
    let view = await at.verify(id);
    expect(view).toMatchObject({ status: 'pending', lastCheckedAt: '2026-11-20T12:00:00.000Z' });
    for (const record of view.dnsRecords)
      expect(record).toMatchObject({
        status: 'pending',
        error: expect.stringMatching(/^There is no .+ yet\.$/),
      });

    view = await look({ [`${dkim} TXT`]: [txt('v=DKIM1; k=rsa; p=AAAA')] });
    expect(view.status).toBe('failed');
    expect(recordOf(view, 'dkim')).toMatchObject({
      status: 'failed',
      found: ['v=DKIM1; k=rsa; p=AAAA'],
      error: expect.stringContaining('another one'),
    });
    expect(recordOf(view, 'spf')).toMatchObject({ status: 'verified', error: null });

    view = await look({ [`${dkim} TXT`]: [cname('other.test')], [`${dkim} CNAME`]: [cname('other.test')] });
    expect(view.status).toBe('failed');
    expect(recordOf(view, 'dkim').error).toContain('is an alias (CNAME) of other.test');

    view = await look({ [`${spf} TXT`]: [txt('v=spf1 mx ~all'), txt('v=spf1 a:mail.example.com ~all')] });
    expect(view.status).toBe('failed');
    expect(recordOf(view, 'spf').error).toContain('merge them into one: v=spf1 mx a:mail.example.com ~all');

    const before = view;
    view = await look({ [`${spf} TXT`]: 'servfail' });
    expect(view.status).toBe('failed');
    // The earlier result still holds, with a sentence on why it is not newer.
    expect(recordOf(view, 'spf')).toMatchObject({
      status: 'failed',
      found: recordOf(before, 'spf').found,
      error: expect.stringContaining('SERVFAIL'),
    });

    view = await look({});
    expect(view).toMatchObject({ status: 'verified', verifiedAt: new Date(at.clock.time).toISOString() });
    expect(view.dnsRecords.every(({ status, error }) => status === 'verified' && error === null)).toBe(true);
  });

  test('a name server that is silent proves nothing, and a look is answered all the same', async () => {
    const { id, dnsRecords } = await at.add('silent.test');
    at.dns.zone = Object.fromEntries(Object.keys(zoneOf(dnsRecords)).map((key) => [key, 'silence']));
    const view = await at.verify(id);
    expect(view.status).toBe('pending');
    expect(recordOf(view, 'dkim').error).toContain('no answer in time');
    at.dns.zone = zoneOf(dnsRecords);
    at.clock.time += 60_000;
    expect((await at.verify(id)).status).toBe('verified');
  });

  test('what only makes things better is not waited for', async () => {
    const { id, dnsRecords } = await at.add('least.test');
    at.dns.zone = zoneOf(dnsRecords.filter(({ required }) => required));
    const view = await at.verify(id);
    expect(view.status).toBe('verified');
    expect(
      view.dnsRecords.filter(({ status }) => status === 'pending').map(({ purpose }) => purpose),
    ).toEqual(['dkim', 'dmarc']);
  });

  test('the clock looks by itself: the owner need not ask', async () => {
    const { id, dnsRecords } = await at.add('patient.test');
    const began = at.clock.time;
    expect(await at.nextLook(id)).toBe('pending');
    expect(await at.nextLook(id)).toBe('pending');
    at.dns.zone = zoneOf(dnsRecords);
    expect(await at.nextLook(id)).toBe('verified');
    expect(at.clock.time - began).toBe(4 * 60_000);
  });
});

describe('a verified domain', () => {
  test('sends through 24 hours of outage, and not after; it heals by itself', async () => {
    const { id, dnsRecords } = await verified('outage.test');
    at.dns.zone = Object.fromEntries(Object.keys(zoneOf(dnsRecords)).map((key) => [key, 'servfail']));
    expect(await at.nextLook(id)).toBe('temporaryFailure');
    const began = at.clock.time;
    let state = 'temporaryFailure';
    while (state === 'temporaryFailure') {
      expect((await sender('outage.test'))?.id).toBe(id);
      state = await at.nextLook(id);
    }
    expect(state).toBe('failed');
    expect(at.clock.time - began).toBeGreaterThanOrEqual(24 * HOUR);
    expect(at.clock.time - began).toBeLessThanOrEqual(25 * HOUR);
    expect(await sender('outage.test')).toBeNull();
    at.dns.zone = zoneOf(dnsRecords);
    expect(await at.nextLook(id)).toBe('verified');
    expect((await sender('outage.test'))?.id).toBe(id);
  });

  test('stops after an hour of a wrong answer', async () => {
    const { id } = await verified('moved.test');
    at.dns.zone = {};
    expect(await at.nextLook(id)).toBe('temporaryFailure');
    const began = at.clock.time;
    while ((await at.nextLook(id)) === 'temporaryFailure') expect(at.clock.time - began).toBeLessThan(HOUR);
    expect(at.clock.time - began).toBeLessThan(2.2 * HOUR);
    expect(await sender('moved.test')).toBeNull();
  });
});

describe('what sending knows', () => {
  test('keys that sign and verify, the hosts whose records are there, and the owner’s wishes', async () => {
    const { id } = await verified('ready.test');
    const domain = await sender('ready.test');
    expect(domain).toMatchObject({
      id,
      name: 'ready.test',
      maySend: true,
      removed: false,
      trackingDomain: 'links.ready.test',
      returnPath: 'send.ready.test',
    });
    const keys = signingKeys(at.sealer, domain?.keys as never);
    const selector = `svc-${id.slice(-6)}`;
    expect(keys.map(({ domain: name, selector: by, algorithm }) => [name, by, algorithm])).toEqual([
      ['ready.test', selector, 'rsa-sha256'],
      ['ready.test', `${selector}-ed`, 'ed25519-sha256'],
    ]);
  });

  test('nothing that DNS does not show yet: no Ed25519 key, no tracking host', async () => {
    const { id, dnsRecords } = await at.add('bare.test', { trackingSubdomain: 'links' });
    at.dns.zone = zoneOf(dnsRecords.filter(({ required }) => required));
    await at.verify(id);
    const domain = await sender('bare.test');
    expect(domain).toMatchObject({ trackingDomain: null, returnPath: 'send.bare.test' });
    expect(signingKeys(at.sealer, domain?.keys as never).map(({ algorithm }) => algorithm)).toEqual([
      'rsa-sha256',
    ]);
  });

  test('the nearest verified domain speaks for a name; none speaks for what is above it', async () => {
    const above = await verified('above.test');
    const below = await verified('mail.above.test');
    expect((await sender('above.test'))?.id).toBe(above.id);
    expect((await sender('mail.above.test'))?.id).toBe(below.id);
    expect((await sender('x.mail.above.test'))?.id).toBe(below.id);
    expect((await sender('other.above.test'))?.id).toBe(above.id);
    expect(await sender('test')).toBeNull();
    expect(await findSendingDomain(at.database, 'ws_other', 'above.test')).toBeNull();
    await at.remove(above.id);
    expect(await sender('above.test')).toBeNull();
    expect((await sender('mail.above.test'))?.id).toBe(below.id);
  });

  test('of a removed domain, that it is removed, and no keys', async () => {
    const { id } = await verified('removed.test');
    await at.remove(id);
    expect(await findDomainOfEmail(at.database, id)).toMatchObject({
      removed: true,
      maySend: false,
      keys: null,
    });
    expect(await findDomainOfEmail(at.database, 'dom_000000000000000000000000')).toBeNull();
  });

  test('keys are bound to their domain and to SECRET_KEY', async () => {
    const one = await verified('bound.test');
    const { keys } = (await sender('bound.test')) ?? {};
    expect(keys?.domainId).toBe(one.id);
    expect(() => signingKeys(at.sealer, { ...keys, domainId: 'dom_other' } as never)).toThrow();
  });
});

describe('how mail leaves decides which records there are', () => {
  test('behind a relay its SPF is advice, and the return path is used once MX and SPF are there', async () => {
    await using behind = await openWorkspace({ transport: ['smtp'], smtpUrl: 'smtps://relay.example.net' });
    const { id, dnsRecords } = await behind.add('relay.test');
    expect(recordOf({ dnsRecords } as DomainView, 'spf')).toMatchObject({
      value: 'v=spf1 a:relay.example.net ~all',
      required: false,
    });
    const sends = () => findSendingDomain(behind.database, behind.workspaceId, 'relay.test');
    behind.dns.zone = zoneOf(dnsRecords.filter(({ purpose }) => purpose !== 'mx'));
    expect((await behind.verify(id)).status).toBe('verified');
    expect(await sends()).toMatchObject({ returnPath: null });
    behind.dns.zone = zoneOf(dnsRecords);
    behind.clock.time += 60_000;
    await behind.verify(id);
    expect(await sends()).toMatchObject({ returnPath: 'send.relay.test' });
  });

  test('two relays are both in SPF; one on this machine by the name of this server, and one host once', async () => {
    const policy = async (smtpUrl: string, smtpFallbackUrl: string) => {
      await using behind = await openWorkspace({ transport: ['smtp'], smtpUrl, smtpFallbackUrl });
      return recordOf((await behind.add('relays.test')) as DomainView, 'spf').value;
    };
    expect(await policy('smtps://a.example.net', 'smtp://192.0.2.7:26')).toBe(
      'v=spf1 a:a.example.net ip4:192.0.2.7 ~all',
    );
    expect(await policy('smtp://a.example.net', 'smtp://127.0.0.1:26')).toBe(
      'v=spf1 a:a.example.net a:mail.example.com ~all',
    );
    expect(await policy('smtp://a.example.net', 'smtp://a.example.net:26')).toBe(
      'v=spf1 a:a.example.net ~all',
    );
  });

  test('with RETURN_PATH_DOMAIN one alias brings MX and SPF along', async () => {
    await using shared = await openWorkspace({ returnPathDomain: 'bounces.post.example' });
    const { id, dnsRecords } = await shared.add('alias.test');
    expect(dnsRecords.map(({ purpose }) => purpose)).toEqual(['dkim', 'dkim', 'returnPath', 'dmarc']);
    expect(recordOf({ dnsRecords } as DomainView, 'returnPath')).toMatchObject({
      type: 'CNAME',
      name: 'send.alias.test',
      value: 'bounces.post.example',
      required: false,
    });
    shared.dns.zone = zoneOf(dnsRecords);
    expect((await shared.verify(id)).status).toBe('verified');
    const domain = await findSendingDomain(shared.database, shared.workspaceId, 'alias.test');
    expect(domain).toMatchObject({ returnPath: 'send.alias.test' });
  });
});
