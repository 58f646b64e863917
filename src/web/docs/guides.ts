import { Liquid } from 'liquidjs';
import client from './guides/client.md' with { type: 'text' };
import curl from './guides/curl.md' with { type: 'text' };
import django from './guides/django.md' with { type: 'text' };
import go from './guides/go.md' with { type: 'text' };
import laravel from './guides/laravel.md' with { type: 'text' };
import nodemailer from './guides/nodemailer.md' with { type: 'text' };
import goingLive from './guides/parts/going-live.md' with { type: 'text' };
import sendOnce from './guides/parts/send-once.md' with { type: 'text' };
import smtpSettings from './guides/parts/smtp-settings.md' with { type: 'text' };
import testKey from './guides/parts/test-key.md' with { type: 'text' };
import python from './guides/python.md' with { type: 'text' };
import rails from './guides/rails.md' with { type: 'text' };
import reactEmail from './guides/react-email.md' with { type: 'text' };
import resend from './guides/resend.md' with { type: 'text' };
import spring from './guides/spring.md' with { type: 'text' };
import typescript from './guides/typescript.md' with { type: 'text' };
import wordpress from './guides/wordpress.md' with { type: 'text' };
import type { Installation } from './installation.ts';
import type { PagePath } from './pages/pages.ts';
import receivers from './texts/receivers.md' with { type: 'text' };

/** The instructions for sending from one framework or language. */
export interface Guide {
  readonly path: PagePath;
  readonly title: string;
  /** The description in the list of guides. */
  readonly summary: string;
  readonly source: string;
}

/** Every guide, in the order of the list. */
export const GUIDES: readonly Guide[] = [
  {
    path: '/docs/guides/curl',
    title: 'Send with curl',
    summary: 'One line on a terminal, over HTTP or SMTP.',
    source: curl,
  },
  {
    path: '/docs/guides/typescript',
    title: 'Send from TypeScript',
    summary: '`fetch` in Node.js, Bun, Deno and at the edge.',
    source: typescript,
  },
  {
    path: '/docs/guides/client',
    title: 'Send with the TypeScript client',
    summary: 'Types, retries, pages and webhooks, without dependencies.',
    source: client,
  },
  {
    path: '/docs/guides/react-email',
    title: 'Send with React Email',
    summary: 'Emails as React components, rendered by your program.',
    source: reactEmail,
  },
  {
    path: '/docs/guides/nodemailer',
    title: 'Send from Node.js with Nodemailer',
    summary: 'A transport over SMTP, with pooling and attachments.',
    source: nodemailer,
  },
  {
    path: '/docs/guides/resend',
    title: 'Send with the Resend package',
    summary: 'Code for the Node.js package `resend`, with another address and key.',
    source: resend,
  },
  {
    path: '/docs/guides/python',
    title: 'Send from Python',
    summary: '`smtplib` and `urllib`, from the standard library alone.',
    source: python,
  },
  {
    path: '/docs/guides/django',
    title: 'Send from Django',
    summary: 'The mail backend that Django includes.',
    source: django,
  },
  {
    path: '/docs/guides/laravel',
    title: 'Send from Laravel',
    summary: 'The `smtp` mailer, mailables and queues.',
    source: laravel,
  },
  {
    path: '/docs/guides/wordpress',
    title: 'Send from WordPress',
    summary: 'One small file for `wp_mail` and WooCommerce.',
    source: wordpress,
  },
  {
    path: '/docs/guides/rails',
    title: 'Send from Ruby on Rails',
    summary: 'Action Mailer with jobs and previews.',
    source: rails,
  },
  {
    path: '/docs/guides/spring',
    title: 'Send from Spring Boot',
    summary: '`JavaMailSender`, or the HTTP client of the JDK.',
    source: spring,
  },
  {
    path: '/docs/guides/go',
    title: 'Send from Go',
    summary: '`net/smtp` and `net/http`.',
    source: go,
  },
];

/** The parts that every guide has in common. */
const PARTS = {
  'test-key': testKey,
  'smtp-settings': smtpSettings,
  'send-once': sendOnce,
  'going-live': goingLive,
};

/** The functions that verify a webhook, by language, from the page about receivers. */
const VERIFY = Object.fromEntries(
  ['js', 'python', 'go', 'php', 'ruby'].map((language) => [
    language,
    new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'ms').exec(receivers)?.[1] ?? '',
  ]),
);

/** Writes a guide for this installation, in markdown. */
export function guideFor({ source }: Guide, installation: Installation): string {
  const liquid = new Liquid({ templates: PARTS, strictVariables: true, ownPropertyOnly: true });
  return liquid.parseAndRenderSync(source, { ...installation, verify: VERIFY });
}
