import { expect, test } from 'bun:test';
import { costMsOf } from '../../support/own-time.ts';
import { verdictOn } from '../../support/reports-of-servers.ts';
import { FORMS } from './report-forms.ts';

const crlf = (text: string): Buffer => Buffer.from(text.replace(/\n/g, '\r\n'));

for (const [name, [raw, right]] of Object.entries(FORMS))
  test(`${name}: ${right}`, async () => {
    expect((await verdictOn(crlf(raw), 'bob@receiver.example')).verdict).toBe(right);
  });

const hostile: Readonly<Record<string, string>> = {
  'addresses without end': `${'<a@b.example>:\n'.repeat(9_000)}`,
  'one long line of addresses': `${'a@b.example '.repeat(9_000)}`,
  'spaces without end': `bob@receiver.example${' '.repeat(120_000)}x`,
  'blank lines without end': `bob@receiver.example\n${'\n'.repeat(120_000)}x`,
  'dots and hyphens': `bob@${'a.-'.repeat(40_000)}`,
  'codes without end': `bob@receiver.example\n${'550 5.1.'.repeat(15_000)}`,
  'words that begin every pattern': `bob@receiver.example\n${'sender user recipient domain host account '.repeat(3_000)}`,
  'signs of addresses': `bob@receiver.example\n${'@'.repeat(120_000)}`,
  'the beginnings of forms': `\n${'Unable to deliver message to: <\nSent <<< RCPT TO:<\nundeliverable to \nUnknown user: \n'.repeat(1_500)}`,
  'a form without an end': `\nundeliverable to ${'a@'.repeat(60_000)}`,
  'a form and spaces': `\nCould not be delivered because of${' \n'.repeat(60_000)}`,
  'rules without end': `bob@receiver.example\n${'-'.repeat(120_000)}x`,
  brackets: `bob@receiver.example\n${'<'.repeat(60_000)}${'>'.repeat(60_000)}`,
};

for (const [name, words] of Object.entries(hostile))
  test(`a report with ${name} takes bounded time`, async () => {
    const blocks = Array.from(
      { length: 200 },
      (_, n) => `Final-Recipient: rfc822; r${n}@b.example\nAction: failed\nStatus: 5.0.0`,
    );
    const [status] = FORMS['no status, no reply, no words'] as readonly [string, string];
    const dsn = status
      .replace('Sorry.', words)
      .replace(/Final-Recipient.*\nAction: failed/, blocks.join('\n\n'));
    const [qmail] = FORMS['qmail: over quota'] as readonly [string, string];
    const plain = qmail.replace('<bob@receiver.example>:', words);
    const quoted = dsn.replaceAll(
      'Status: 5.0.0',
      `Diagnostic-Code: x; ${words.replaceAll('\n', ' ').slice(0, 2_000)}`,
    );
    const damaged = dsn.replace('boundary=B', 'boundary=C');
    for (const raw of [dsn, plain, quoted, damaged].map(crlf))
      expect(await costMsOf(() => verdictOn(raw, 'bob@receiver.example'))).toBeLessThan(1_000);
  });
