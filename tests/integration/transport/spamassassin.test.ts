import { expect, test } from 'bun:test';
import { finishMessage } from '../../../src/mail/compose/finish.ts';
import { generateDkimKey } from '../../../src/mail/dkim/key-pair.ts';
import { loadSigningKey } from '../../../src/mail/dkim/signing-key.ts';
import { aMessage } from '../../unit/transport/a-message.ts';

const missing = Bun.which('spamassassin') === null;
if (missing)
  console.log(
    'Not shown here, since the Debian package spamassassin is not installed: the score of a plain message.',
  );

test.if(!missing)(
  'SpamAssassin (local tests only) scores a plain transactional message under 1',
  async () => {
    const { privateKey } = await generateDkimKey('rsa-sha256');
    const raw = await finishMessage(
      aMessage({
        text: 'Thank you for your order 1042. It leaves our warehouse tomorrow.\n\nYour shop\n',
        html: '<html><body><p>Thank you for your order 1042. It leaves our warehouse tomorrow.</p><p>Your shop</p></body></html>',
        date: Date.now(),
        dkim: [loadSigningKey({ domain: 'sender.example', selector: 'r', pem: privateKey })],
      }),
    );
    const child = Bun.spawn(['spamassassin', '-L', '-t'], { stdin: raw, stdout: 'pipe', stderr: 'ignore' });
    const report = await new Response(child.stdout).text();
    const score = /^X-Spam-Status: \w+, score=(-?[\d.]+)/m.exec(report)?.[1];
    expect(Number(score)).toBeLessThan(1);
  },
);
