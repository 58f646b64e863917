import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { inEachWorld } from '../support/flow-world.ts';

inEachWorld('the links of flows', (world) => {
  test('a mail links to the page on which its recipient chooses, and what others see of it to that of no contact', async () => {
    const { service, ok, aContact, aFlow, until } = world();
    const html =
      '<a href="{{ preferencesUrl }}">Choose</a><a href="https://a.example/?to={{ preferencesUrl | url_encode }}">In</a>';
    const said = {
      name: 'Choice',
      subject: 'S {{ preferencesUrl }}',
      from: 'Shop <shop@sender.example>',
      html,
    };
    const { id: templateId } = ok(await service.live.post('/v1/templates', said));
    const flow = await aFlow({ steps: [{ key: 'mail', type: 'sendEmail', config: { templateId } }] });
    const contactId = await aContact({ email: `Reader.${templateId}@Example.com` });
    const { path } = ok(
      await service.live.post(`/v1/flows/${flow}/simulate`, { contact: { id: contactId } }),
    );
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    const run = await until('the end', id, ({ status }) => status === 'completed');
    const { emailId } = run.log[0];
    const arrived = await eventually('the mail', async () => {
      const [copy] = ok(await service.live.get(`/v1/captured?emailId=${emailId}`));
      return copy && ok(await service.live.get(`/v1/captured/${copy.id}`));
    });
    const email = ok(await service.live.get(`/v1/emails/${emailId}`));
    const [listed] = ok(await service.live.get(`/v1/emails?to=${email.to[0]}`));
    const authorization = `Bearer ${service.keys.live}`;
    const asSent = await fetch(`${service.url}/v1/emails/${emailId}/raw`, { headers: { authorization } });
    const raw = (await asSent.text()).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    const waited = ok(await service.live.get(`/v1/emails/wait?to=${email.to[0]}`));
    const token = /\/p\/([\w.-]+)/.exec(arrived.html)?.[1] ?? '';
    expect(arrived.html.split(token)).toHaveLength(3);
    for (const shown of [JSON.stringify([email, listed, waited]), raw]) {
      expect(shown).not.toContain(token);
      expect(shown).toContain('/p/preview');
      expect(shown).toContain('%2Fp%2Fpreview');
    }
    const statusAfter = async (shown: string, answer: number): Promise<string> => {
      const page = new URL(/href="([^"]*)"/.exec(shown)?.[1] ?? '').pathname;
      const off = { method: 'POST', body: new URLSearchParams({ action: 'off' }) };
      expect((await fetch(service.url + page, off)).status).toBe(answer);
      return ok(await service.live.get(`/v1/contacts/${contactId}`)).status;
    };
    expect(await statusAfter(path[0].email.html, 400)).toBe('subscribed');
    expect(await statusAfter(email.html, 400)).toBe('subscribed');
    expect(await statusAfter(arrived.html, 200)).toBe('unsubscribed');
  });
});
