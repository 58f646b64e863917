import { resolve } from 'node:path';

/** A snippet of a guide, and the way to run it. */
export interface Trial {
  /** The last part of the guide's path. */
  readonly guide: string;
  /** The files of the guide that it takes, as their captions name them. */
  readonly files: readonly string[];
  /** SMTP is tried with each kind of TLS, HTTP once. */
  readonly over: 'HTTP' | 'SMTP';
  readonly command: readonly [string, ...string[]];
  /** Finds out whether what it needs is here, by a program that ends with 0. */
  readonly needs?: readonly [string, ...string[]];
  /** Files that a project of that kind has anyhow. */
  readonly around?: Readonly<Record<string, string>>;
}

/** WordPress calls the hook with its PHPMailer before each mail; so does this, with the real PHPMailer. */
const WORDPRESS = `<?php
foreach (['Exception', 'PHPMailer', 'SMTP'] as $part) require "/usr/share/php/libphp-phpmailer/src/$part.php";
define('POSTHORN_API_KEY', getenv('POSTHORN_API_KEY'));
function add_action($hook, $call) { $GLOBALS['hooks'][$hook] = $call; }
require __DIR__ . '/posthorn.php';
$mailer = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mailer->addAddress('delivered@simulator.svc.test');
$mailer->Subject = 'Your receipt';
$mailer->Body = 'Thank you for your order.';
$mailer->addCustomHeader('Idempotency-Key: receipt-1050');
$GLOBALS['hooks']['phpmailer_init']($mailer);
$mailer->send();
`;

/** Action Mailer hands these settings to the mail library as they are; so does this. */
const RAILS = `require "mail"
require "ostruct"
config = OpenStruct.new(action_mailer: OpenStruct.new)
binding.eval(File.read("config/environments/production.rb"))
Mail.new do
  delivery_method config.action_mailer.delivery_method, config.action_mailer.smtp_settings
  header["Idempotency-Key"] = "receipt-1055"
  from "Acme <hello@acme.example>"
  to "delivered@simulator.svc.test"
  subject "Your receipt"
  body "Thank you for your order."
end.deliver!
`;

const DJANGO = `import os
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
import django
django.setup()
from receipts import send_receipt
send_receipt(1048, "delivered@simulator.svc.test")
`;

/** The client where an installed package would be; tests/contract/client.test.ts tries the package itself. */
const CLIENT_PACKAGE = {
  'node_modules/posthorn-client/package.json': '{ "exports": "./posthorn.ts" }',
  'node_modules/posthorn-client/posthorn.ts': `export * from ${JSON.stringify(resolve('src/web/client/posthorn.ts'))};`,
};

// Debian's modules belong to Debian's python3, which need not be the first in the path.
const PYTHON = Bun.spawnSync(['python3', '-c', 'import django']).success ? 'python3' : '/usr/bin/python3';

/** Every snippet that can run where its language is at hand. */
export const TRIALS: readonly Trial[] = [
  {
    guide: 'curl',
    files: ['send.sh'],
    over: 'HTTP',
    command: ['sh', 'send.sh'],
    needs: ['curl', '--version'],
  },
  {
    guide: 'curl',
    files: ['send-smtp.sh'],
    over: 'SMTP',
    command: ['sh', 'send-smtp.sh'],
    needs: ['sh', '-c', 'curl --version | grep -q smtps'],
  },
  { guide: 'typescript', files: ['send.ts'], over: 'HTTP', command: [process.execPath, 'send.ts'] },
  {
    guide: 'client',
    files: ['client.ts'],
    over: 'HTTP',
    command: [process.execPath, 'client.ts'],
    around: CLIENT_PACKAGE,
  },
  {
    guide: 'react-email',
    files: ['receipt.tsx', 'send-receipt.tsx'],
    over: 'HTTP',
    command: [process.execPath, 'send-receipt.tsx'],
    around: { ...CLIENT_PACKAGE, 'tsconfig.json': '{ "compilerOptions": { "jsx": "react-jsx" } }' },
  },
  { guide: 'nodemailer', files: ['send.mjs'], over: 'SMTP', command: [process.execPath, 'send.mjs'] },
  { guide: 'resend', files: ['resend.mjs'], over: 'HTTP', command: [process.execPath, 'resend.mjs'] },
  {
    guide: 'python',
    files: ['send_smtp.py'],
    over: 'SMTP',
    command: ['python3', 'send_smtp.py'],
    needs: ['python3', '-c', 'import ssl'],
  },
  {
    guide: 'python',
    files: ['send_http.py'],
    over: 'HTTP',
    command: ['python3', 'send_http.py'],
    needs: ['python3', '-c', 'import ssl'],
  },
  {
    guide: 'django',
    files: ['settings.py', 'receipts.py'],
    over: 'SMTP',
    command: [PYTHON, 'trial.py'],
    needs: [PYTHON, '-c', 'import django'],
    around: { 'trial.py': DJANGO },
  },
  {
    guide: 'wordpress',
    files: ['posthorn.php'],
    over: 'SMTP',
    command: ['php', 'trial.php'],
    needs: [
      'php',
      '-r',
      'exit(is_dir("/usr/share/php/libphp-phpmailer") && extension_loaded("openssl") ? 0 : 1);',
    ],
    around: { 'trial.php': WORDPRESS },
  },
  {
    guide: 'rails',
    files: ['config/environments/production.rb'],
    over: 'SMTP',
    command: ['ruby', 'trial.rb'],
    needs: ['ruby', '-e', 'require "mail"'],
    around: { 'trial.rb': RAILS },
  },
  {
    guide: 'rails',
    files: ['send_http.rb'],
    over: 'HTTP',
    command: ['ruby', 'send_http.rb'],
    needs: ['ruby', '-e', 'require "net/http"'],
  },
  {
    guide: 'spring',
    files: ['Send.java'],
    over: 'HTTP',
    command: ['java', 'Send.java'],
    needs: ['javac', '-version'],
  },
  {
    guide: 'go',
    files: ['smtp/main.go'],
    over: 'SMTP',
    command: ['go', 'run', 'smtp/main.go'],
    needs: ['go', 'version'],
  },
  {
    guide: 'go',
    files: ['http/main.go'],
    over: 'HTTP',
    command: ['go', 'run', 'http/main.go'],
    needs: ['go', 'version'],
  },
];
