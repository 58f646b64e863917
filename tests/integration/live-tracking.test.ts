import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;

beforeAll(async () => {
  service = await startLiveService({ environment: { PUBLIC_URL: 'https://mail.sender.example' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0' };
const HTML =
  '<body><a href="https://shop.example/?a=1&amp;b=2">Shop</a> <a href="mailto:a@b.example">Mail</a></body>';

/** The email as ada got it, once it was delivered. */
async function received(more: object): Promise<{ readonly id: string; readonly copy: Email }> {
  const id = await service.send({ html: HTML, text: undefined, ...more });
  await service.until(id, ({ status }) => status === 'delivered');
  const [item] = (await service.live.get(`/v1/captured?emailId=${id}&recipient=ada@example.com`)).body.data;
  return { id, copy: (await service.live.get(`/v1/captured/${item.id}`)).body.data };
}

const NAMED = ['content-type', 'cache-control', 'location'];

const visit = (link: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${service.url}${new URL(link).pathname}`, { headers: BROWSER, redirect: 'manual', ...init });

const events = async (id: string): Promise<Email[]> =>
  (await service.live.get(`/v1/emails/${id}/events`)).body.data.slice(2);

const linkIn = (html: string, letter: string): string =>
  new RegExp(`https://mail\\.sender\\.example/t/${letter}/[\\w.-]+`).exec(html)?.[0] ?? '';

describe('opens and clicks', () => {
  test('are not counted unless the request asks for it', async () => {
    const { copy } = await received({});
    expect(copy.html).not.toContain('/t/');
    expect(copy.html).toContain('https://shop.example/?a=1&amp;b=2');
  });

  test('are counted for the recipient whose copy it is', async () => {
    const { id, copy } = await received({
      to: ['zoe@example.com', 'ada@example.com'],
      trackOpens: true,
      trackClicks: true,
    });
    expect(copy.text).toContain('https://shop.example/?a=1&b=2');
    expect(copy.html).toContain('mailto:a@b.example');
    const pixel = await visit(linkIn(copy.html, 'o'));
    expect([pixel.status, pixel.headers.get('content-type')]).toEqual([200, 'image/gif']);
    expect(pixel.headers.get('cache-control')).toContain('no-store');
    const click = await visit(linkIn(copy.html, 'c'));
    expect([click.status, click.headers.get('location')]).toEqual([302, 'https://shop.example/?a=1&b=2']);
    expect(click.headers.get('referrer-policy')).toBe('no-referrer');
    const told = (await events(id)).filter(({ type }) => type === 'opened' || type === 'clicked');
    expect(told.map(({ type, recipient, data }) => [type, recipient, data])).toEqual([
      ['opened', 'ada@example.com', { userAgent: BROWSER['user-agent'], via: null }],
      [
        'clicked',
        'ada@example.com',
        { url: 'https://shop.example/?a=1&b=2', userAgent: BROWSER['user-agent'], via: null },
      ],
    ]);
    const email = (await service.live.get(`/v1/emails/${id}`)).body.data;
    expect([email.status, email.lastEvent]).toEqual(['delivered', 'clicked']);
  });

  test('lead on to places whose address is not ASCII', async () => {
    const { copy } = await received({
      html: '<a href="https://b\u00fccher.example/\u65e5\u672c">\u65e5\u672c</a>',
      trackClicks: true,
    });
    const click = await visit(linkIn(copy.html, 'c'));
    expect([click.status, click.headers.get('location')]).toEqual([
      302,
      'https://xn--bcher-kva.example/%E6%97%A5%E6%9C%AC',
    ]);
  });

  test('are not counted where only the head is asked for, which is answered as ever', async () => {
    const { id, copy } = await received({ trackOpens: true, trackClicks: true });
    const links = ['o', 'c'].map((letter) => linkIn(copy.html, letter));
    const said = async (method: string) => {
      const answers = await Promise.all(links.map((link) => visit(link, { method })));
      return answers.map(({ status, headers }) => [status, ...NAMED.map((name) => headers.get(name))]);
    };
    const heads = await said('HEAD');
    expect(await events(id)).toEqual([]);
    expect(await said('GET')).toEqual(heads);
    expect((await events(id)).map(({ type }) => type).toSorted()).toEqual(['clicked', 'opened']);
  });

  test('by programs are counted as such', async () => {
    const { id, copy } = await received({ trackOpens: true });
    await visit(linkIn(copy.html, 'o'), { headers: { 'user-agent': 'x (via ggpht.com GoogleImageProxy)' } });
    expect((await events(id)).map(({ data }) => data.via)).toEqual(['imageProxy']);
  });

  test('by the same visitor at once are one, and more than a hundred are not recorded', async () => {
    const { id, copy } = await received({ trackOpens: true, trackClicks: true });
    const [pixel, click] = ['o', 'c'].map((letter) => linkIn(copy.html, letter)) as [string, string];
    for (const link of [pixel, click, pixel, click]) expect((await visit(link)).status).toBeLessThan(303);
    expect((await events(id)).map(({ type }) => type)).toEqual(['opened', 'clicked']);
    await visit(pixel, { headers: { 'user-agent': 'x (via ggpht.com GoogleImageProxy)' } });
    expect((await events(id)).map(({ data }) => data.via)).toEqual([null, null, 'imageProxy']);
    // They take turns, so that none is the same as the last.
    for (let turn = 0; turn < 60; turn++) {
      await visit(pixel);
      await visit(pixel, { headers: { 'user-agent': 'x (via ggpht.com GoogleImageProxy)' } });
    }
    expect((await events(id)).filter(({ type }) => type === 'opened').length).toBe(100);
  });

  test('follow what the domain says, where the email says nothing', async () => {
    const added = await service.live.post('/v1/domains', { name: 'tracked.example' });
    const changed = await service.live.patch(`/v1/domains/${added.body.data.id}`, { clickTracking: true });
    expect(changed.status).toBe(200);
    const from = 'shop@tracked.example';
    expect(linkIn((await received({ from })).copy.html, 'c')).not.toBe('');
    expect((await received({ from, trackClicks: false })).copy.html).not.toContain('/t/');
  });

  test('lead nowhere that was not signed here', async () => {
    const { copy } = await received({ trackOpens: true, trackClicks: true });
    const token = linkIn(copy.html, 'c').split('/').at(-1) ?? '';
    const [content = '', mac = ''] = token.split('.');
    const evil = Buffer.from(
      Buffer.from(content, 'base64url')
        .toString()
        .replace(/https.*/, 'https://evil.example/'),
    );
    for (const path of [
      `/t/c/${evil.toString('base64url')}.${mac}`,
      `/t/o/${token}`,
      `/t/u/${token}`,
      `/t/c/${linkIn(copy.html, 'o').split('/').at(-1)}`,
      '/t/c/https://evil.example',
      '/t/c/x',
    ]) {
      const response = await visit(`https://mail.sender.example${path}`);
      expect(response.headers.get('location')).toBeNull();
      if (path.split('/').length === 4)
        expect([response.status, ((await response.json()) as Email).error.code]).toEqual([
          400,
          'INVALID_TOKEN',
        ]);
    }
  });
});

describe('unsubscribing', () => {
  const BULK = {
    html: '<p>News. <a href="{{unsubscribeUrl}}">Leave</a></p>',
    text: 'Leave: {{ unsubscribeUrl }}',
  };
  const ONE_CLICK = {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  };
  const entry = async (): Promise<Email> =>
    (await service.live.get('/v1/suppressions?address=ada@example.com')).body.data[0];

  test('needs more than to look: GET asks, POST acts, and again does no harm', async () => {
    const { id, copy } = await received(BULK);
    const url = linkIn(copy.html, 'u');
    expect(copy.text).toContain(url);
    expect(copy.raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    expect(copy.headers.find(({ name }: Email) => name === 'List-Unsubscribe').value).toBe(`<${url}>`);

    const page = await visit(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await events(id)).toEqual([]);
    expect(await entry()).toBeUndefined();

    for (let n = 0; n < 2; n++) expect((await visit(url, ONE_CLICK)).status).toBe(200);
    expect((await events(id)).map(({ type, data }) => [type, data])).toEqual([
      ['unsubscribed', { source: 'oneClick', campaignId: null, audienceId: null }],
    ]);
    expect(await entry()).toMatchObject({ reason: 'unsubscribed', emailId: id });
  });

  test('keeps away whatever offers a way off a list, and no receipt', async () => {
    const OWN_EXIT = { headers: { 'list-UNSUBSCRIBE': '<https://shop.example/leave>' } };
    for (const list of [{ ...BULK, text: undefined }, { text: BULK.text }, OWN_EXIT]) {
      const id = await service.send({ ...list, cc: 'zoe@example.com' });
      const isSettled = ({ recipients }: Email) =>
        recipients.every(({ status }: Email) => status === 'failed' || status === 'delivered');
      const { recipients } = await service.until(id, isSettled);
      expect(recipients).toEqual([
        { address: 'ada@example.com', kind: 'to', status: 'failed', lastEvent: null },
        { address: 'zoe@example.com', kind: 'cc', status: 'delivered', lastEvent: 'delivered' },
      ]);
      const { data } = (await service.live.get(`/v1/captured?emailId=${id}`)).body;
      expect(data.map(({ recipient }: Email) => recipient)).toEqual(['zoe@example.com']);
    }
    const alone = await service.send(BULK);
    expect(await service.until(alone, ({ status }) => status === 'failed')).toMatchObject({
      failureReason: 'suppressed',
      events: [],
    });
    const receipt = await service.send();
    await service.until(receipt, ({ status }) => status === 'delivered');
  });

  test('works when the email has long been deleted', async () => {
    await service.live.delete('/v1/suppressions/ada@example.com');
    const { id, copy } = await received(BULK);
    await service.service.database.query('delete from email_turns where email_id = $1', [id]);
    await service.service.database.query('delete from emails where id = $1', [id]);
    const form = { ...ONE_CLICK, body: 'source=page' };
    expect((await visit(linkIn(copy.html, 'u'), form)).status).toBe(200);
    expect(await entry()).toMatchObject({ reason: 'unsubscribed', emailId: id });
  });

  test('gives way to a reason that keeps everything away', async () => {
    await service.live.post('/v1/suppressions', { address: 'ada@example.com' });
    expect((await entry()).reason).toBe('manual');
    await service.live.delete('/v1/suppressions/ada@example.com');
  });
});
