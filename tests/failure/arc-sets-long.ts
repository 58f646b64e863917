import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { loadSigningKey } from '../../src/mail/dkim/signing-key.ts';
import { arcSet } from '../../src/mail/forwarding/arc-seal.ts';

// Forwards each shape of message through three domains, and has dkimpy verify the chain after each (Debian:
// apt-get install python3-dkim).
//   bun tests/failure/arc-sets-long.ts

const SHAPES: Readonly<Record<string, string>> = {
  plain:
    'From: Ada <ada@customer.example>\r\nTo: bob@example.net\r\nSubject: Hi\r\nMessage-ID: <a@customer.example>\r\n\r\nHello\r\n',
  folded:
    'From: Ada\r\n <ada@customer.example>\r\nTo: bob@example.net,\r\n\tcarl@example.net\r\nSubject:  many   spaces \r\n  and folds\t\r\n\r\nHello  world \t\r\n\r\n\r\n',
  'empty body': 'From: ada@customer.example\r\nSubject: empty\r\n\r\n',
  'no body': 'From: ada@customer.example\r\nSubject: no body',
  'repeated fields':
    'From: ada@customer.example\r\nTo: a@example.net\r\nTo: b@example.net\r\nSubject: one\r\nSubject: two\r\n\r\n.\r\n..\r\n',
  'raw UTF-8': 'From: Adé <ada@customer.example>\r\nSubject: café\r\n\r\néé \r\n',
  'long fields': `From: ada@customer.example\r\nSubject: ${'word '.repeat(180)}\r\nReferences: ${Array.from({ length: 60 }, (_, at) => `<${at}-abcdefghij@customer.example>`).join('\r\n ')}\r\n\r\nHi`,
};

const domains = ['a.example', 'b.example', 'c.example'].map((domain) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const key = loadSigningKey({ domain, selector: 's1', pem: privateKey });
  return { domain, key, record: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` };
});
const zone = JSON.stringify(
  Object.fromEntries(domains.map(({ domain, record }) => [`s1._domainkey.${domain}.`, record])),
);
const VERIFY = `import dkim, json, sys
zone = json.loads(sys.argv[1])
def ask(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return zone[name].encode() if name in zone else None
print(dkim.arc_verify(sys.stdin.buffer.read(), dnsfunc=ask)[0].decode())`;

let [passed, failed] = [0, 0];
for (const [shape, raw] of Object.entries(SHAPES)) {
  let message: Buffer = Buffer.from(raw);
  for (const [at, { domain, key }] of domains.entries()) {
    const results = `mx.${domain}; spf=pass smtp.mailfrom=customer.example; dmarc=none header.from=customer.example`;
    const set = arcSet(message, [key], { results, chain: at === 0 ? 'none' : 'pass', at: Date.now() });
    message = Buffer.concat([set, message]);
    const seen = execFileSync('/usr/bin/python3', ['-c', VERIFY, zone], { input: message }).toString().trim();
    if (seen === 'pass') passed++;
    else failed++;
    console.log(`${shape}, ${at + 1} of 3 sets: ${seen}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
