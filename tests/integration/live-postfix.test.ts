import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Postfix, postfixMissing, startPostfix } from './transport/postfix.ts';
import { type ScriptedSmtp, startScriptedSmtp } from './transport/scripted-smtp.ts';

const missing = postfixMissing();
if (missing)
  console.log(`Not shown here, since ${missing}: live mail through a real Postfix, and its bounces.`);

describe.if(!missing)('live mail through a real Postfix', () => {
  let elsewhere: ScriptedSmtp;
  let postfix: Postfix;
  let service: LiveService;

  beforeAll(async () => {
    elsewhere = await startScriptedSmtp();
    const inbound = await freePort();
    postfix = await startPostfix({ relaysTo: elsewhere.port, bouncesTo: inbound });
    service = await startLiveService({
      transport: relayTo(postfix.port, 20_000),
      environment: { INBOUND_SMTP_PORT: String(inbound) },
    });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await postfix[Symbol.asyncDispose]();
    await elsewhere[Symbol.asyncDispose]();
  });

  test('is taken, and a later refusal comes back to the one recipient that it is about', async () => {
    elsewhere.script = {
      rcpt: (command) => (command.includes('lost@') ? '550 5.1.1 No such user' : '250 ok'),
    };
    const id = await service.send({ to: ['here@elsewhere.test', 'lost@elsewhere.test'] });
    const email = await service.until(id, ({ recipients }) => recipients[1].status === 'failed');
    expect([email.status, email.recipients[0].status]).toEqual(['sent', 'sent']);
    expect(email.events.at(-1)).toMatchObject({
      type: 'bounced',
      recipient: 'lost@elsewhere.test',
      data: { type: 'Permanent', subType: 'NoEmail', smtpCode: 550, enhancedCode: '5.1.1' },
    });
    const list = (await service.live.get('/v1/suppressions')).body.data;
    expect(list.map(({ address, emailId }: Email) => [address, emailId])).toEqual([
      ['lost@elsewhere.test', id],
    ]);
  });

  test('is refused at once where Postfix knows better', async () => {
    const gone = await service.send({ to: 'gone@receiver.test' });
    const full = await service.send({ to: 'full@receiver.test' });
    expect((await service.until(gone, ({ status }) => status === 'failed')).failureReason).toBe('bounced');
    expect((await service.until(full, ({ status }) => status === 'failed')).failureReason).toBe('bounced');
    const reasons = (await service.live.get('/v1/suppressions')).body.data.map(
      ({ address }: Email) => address,
    );
    expect(reasons).toContain('gone@receiver.test');
    expect(reasons).not.toContain('full@receiver.test');
  });
});
