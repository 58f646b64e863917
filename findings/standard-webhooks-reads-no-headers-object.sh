#!/bin/sh
# standardwebhooks 1.1.1 and svix 1.99.1 (npm) on Node.
#
# Guess: `new Webhook(secret).verify(await request.text(), request.headers)` checks a webhook in a handler of fetch, as a plain object of
#        the same three fields is checked.
# Seen:  both find no field in a `Headers` and refuse a webhook that is right: "Missing required headers". `Object.fromEntries(headers)`
#        is taken. The answer is the body read as JSON, so a text that is no JSON throws a SyntaxError though its signature is right.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund standardwebhooks@1.1.1 svix@1.99.1
cat > see.mjs <<'JS'
import { Webhook } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const at = new Date();
const request = (body) =>
  new Request('https://app.example/hook', {
    method: 'POST',
    body,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    },
  });
const see = async (name, body, read, verifier) => {
  const got = request(body);
  try {
    console.log(`${name}: ${JSON.stringify(verifier.verify(await got.text(), read(got.headers)))}`);
  } catch (error) {
    console.log(`${name}: ${error.constructor.name}, ${error.message.slice(0, 24)}`);
  }
};
for (const [name, verifier] of [['standardwebhooks', new Webhook(secret)], ['svix', new Svix(secret)]]) {
  await see(`${name}, Headers`, '{"a":1}', (headers) => headers, verifier);
  await see(`${name}, object`, '{"a":1}', (headers) => Object.fromEntries(headers), verifier);
  await see(`${name}, text`, 'hello', (headers) => Object.fromEntries(headers), verifier);
}
JS
node --no-warnings see.mjs | tee seen
for name in standardwebhooks svix; do
  grep -qxF "$name, Headers: WebhookVerificationError, Missing required headers" seen
  grep -qxF "$name, object: {\"a\":1}" seen
  grep -q "^$name, text: SyntaxError" seen
done
echo 'As expected.'
