import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPublicKey } from 'node:crypto';
import type { DomainView } from '../../../src/sending/domains/model.ts';
import { findSendingDomain, signingKeys } from '../../../src/sending/domains/queries.ts';
import { txt } from '../transport/name-server.ts';
import { openWorkspace, type Workspace, zoneOf } from './a-workspace.ts';

let at: Workspace;
beforeAll(async () => {
  at = await openWorkspace();
});
afterAll(() => at[Symbol.asyncDispose]());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Verified, with every record in DNS. */
async function verified(name: string): Promise<DomainView> {
  const { id, dnsRecords } = await at.add(name);
  at.dns.zone = zoneOf(dnsRecords);
  return at.verify(id);
}

const dkim = ({ dnsRecords }: DomainView) => dnsRecords.filter(({ purpose }) => purpose === 'dkim');
const standings = (view: DomainView) => view.dkimKeys.map(({ status }) => status);

/** The selectors that sign for a name, having seen that each signs with the key that DNS shows. */
async function signers(name: string): Promise<readonly string[]> {
  const domain = await findSendingDomain(at.database, at.workspaceId, name);
  if (!domain?.keys) throw new Error(`${name} cannot sign`);
  return signingKeys(at.sealer, domain.keys).map(({ selector, privateKey }) => {
    const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
    const shown = JSON.stringify(at.dns.zone[`${selector}._domainkey.${name} TXT`]);
    const [, value = 'none'] = /p=([^;]+)/.exec(shown.replaceAll('","', '').replaceAll('"', '')) ?? [];
    expect(der).toEndWith(value.replace(/\].*$/, '').slice(-20));
    return selector;
  });
}

const later = async (id: string, ms = 60_000): Promise<DomainView> => {
  at.clock.time += ms;
  return at.verify(id);
};

describe('a rotation', () => {
  test('shows the new records beside the old ones, and switches once they are seen', async () => {
    const before = await verified('turn.test');
    const [old = ''] = before.dkimKeys.map(({ selector }) => selector);
    const zone = at.dns.zone;
    at.clock.time += 60_000;
    const asked = await at.rotate(before.id);
    const [next = ''] = asked.dkimKeys.map(({ selector }) => selector);
    expect(asked).toMatchObject({
      status: 'verified',
      dkimKeys: [{ status: 'pending' }, { status: 'active' }],
    });
    expect(next).toMatch(/^svc-\w{6}$/);
    expect(next).not.toBe(old);
    expect(dkim(asked).map(({ name, status, required }) => [name, status, required])).toEqual([
      [`${old}._domainkey.turn.test`, 'verified', true],
      [`${old}-ed._domainkey.turn.test`, 'verified', false],
      [`${next}._domainkey.turn.test`, 'pending', false],
      [`${next}-ed._domainkey.turn.test`, 'pending', false],
    ]);
    expect(asked.dkimKeys[0]?.recordNames).toEqual(
      dkim(asked)
        .slice(2)
        .map(({ name }) => name),
    );

    // Nothing is there yet, then only one of the two.
    expect(standings(await at.verify(before.id))).toEqual(['pending', 'active']);
    expect(await signers('turn.test')).toEqual([old, `${old}-ed`]);
    const all = zoneOf(asked.dnsRecords);
    at.dns.zone = { ...all, [`${next}-ed._domainkey.turn.test TXT`]: 'nxdomain' };
    const half = await later(before.id);
    expect(half.status).toBe('verified');
    expect(dkim(half).map(({ status }) => status)).toEqual(['verified', 'verified', 'verified', 'pending']);
    expect(await signers('turn.test')).toEqual([old, `${old}-ed`]);

    at.dns.zone = all;
    const after = await later(before.id);
    const removableAt = new Date(at.clock.time + 7 * DAY).toISOString();
    expect(after).toMatchObject({
      status: 'verified',
      verifiedAt: before.verifiedAt,
      dkimKeys: [
        { selector: next, status: 'active', removableAt: null },
        { selector: old, status: 'retired', removableAt },
      ],
    });
    expect(dkim(after).map(({ name, status }) => [name, status])).toEqual([
      [`${next}._domainkey.turn.test`, 'verified'],
      [`${next}-ed._domainkey.turn.test`, 'verified'],
    ]);
    expect(await signers('turn.test')).toEqual([next, `${next}-ed`]);
    const rows = await at.database.query<{ selector: string; rsa: string | null; ed25519: string | null }>(
      'select selector, rsa, ed25519 from domain_keys where domain_id = $1 order by stage',
      [before.id],
    );
    expect(rows).toEqual([
      {
        selector: next,
        rsa: expect.stringMatching(/^sealed:1:/),
        ed25519: expect.stringMatching(/^sealed:1:/),
      },
      { selector: old, rsa: null, ed25519: null },
    ]);

    // The old records may go, and the next rotation begins again.
    for (const name of Object.keys(zone)) if (name.startsWith(old)) at.dns.zone[name] = 'nxdomain';
    expect(await later(before.id)).toMatchObject({ status: 'verified' });
    expect(standings(await at.rotate(before.id))).toEqual(['pending', 'active', 'retired']);
  });

  test('is looked at by itself, soon at first, and daily again once it has switched', async () => {
    const { id } = await verified('alone.test');
    const { dnsRecords } = await at.rotate(id);
    const began = at.clock.time;
    const looks: number[] = [];
    const look = async () => {
      expect(await at.nextLook(id)).toBe('verified');
      looks.push(Math.round((at.clock.time - began) / 60_000));
    };
    for (let n = 0; n < 5; n += 1) await look();
    expect(looks).toEqual([1, 2, 4, 8, 16]);
    at.dns.zone = zoneOf(dnsRecords);
    await look();
    expect(looks.at(-1)).toBe(32);
    const [row] = await at.database.query<{ hours: number }>(
      `select (extract(epoch from wake_at) * 1000 - $2::float8)::float8 / ${HOUR} as hours from domains where id = $1`,
      [id, at.clock.time],
    );
    expect(row?.hours).toBe(24);
    expect((await signers('alone.test')).join()).not.toContain(id.slice(-6));
  });

  test('does without an Ed25519 record that does not come within three days', async () => {
    const { id } = await verified('lone.test');
    const { dnsRecords, dkimKeys } = await at.rotate(id);
    const next = dkimKeys[0]?.selector ?? '';
    at.dns.zone = { ...zoneOf(dnsRecords), [`${next}-ed._domainkey.lone.test TXT`]: 'nxdomain' };
    expect(standings(await later(id, 3 * DAY - 60_000))).toEqual(['pending', 'active']);
    expect(standings(await later(id, 60_000))).toEqual(['active', 'retired']);
    expect(await signers('lone.test')).toEqual([next]);
  });

  test('heals a domain whose old record is gone already', async () => {
    const { id } = await verified('lost.test');
    const { dnsRecords, dkimKeys } = await at.rotate(id);
    const old = dkimKeys[1]?.selector ?? '';
    const zone = zoneOf(dnsRecords);
    for (const name of Object.keys(zone)) if (name.startsWith(old)) zone[name] = 'nxdomain';
    at.dns.zone = zone;
    expect(await later(id)).toMatchObject({ status: 'verified', dkimKeys: [{ status: 'active' }, {}] });
  });

  test('waits while DNS is silent, or shows another value', async () => {
    const { id } = await verified('silent-turn.test');
    const { dnsRecords, dkimKeys } = await at.rotate(id);
    const record = `${dkimKeys[0]?.selector}._domainkey.silent-turn.test TXT`;
    at.dns.zone = { ...zoneOf(dnsRecords), [record]: 'servfail' };
    expect(standings(await later(id))).toEqual(['pending', 'active']);
    at.dns.zone = { ...zoneOf(dnsRecords), [record]: [txt('v=DKIM1; k=rsa; p=AAAA')] };
    const wrong = await later(id);
    expect(wrong.status).toBe('verified');
    expect(dkim(wrong)[2]).toMatchObject({ status: 'failed', error: expect.stringContaining('another one') });
  });

  test('is one at a time, and ends with its domain', async () => {
    const { id } = await verified('twice-turn.test');
    const both = await Promise.allSettled([at.rotate(id), at.rotate(id)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(at.rotate(id)).rejects.toThrow('already under way');
    await at.remove(id);
    expect(at.rotate(id)).rejects.toThrow('No such domain');
    expect(await at.database.query('select from domain_keys where domain_id = $1', [id])).toEqual([]);
  });
});
