/** A longer file has more than one job. */
const MOST_LINES = 400;

/** A shorter file of the product belongs to its neighbour. */
const FEWEST_LINES = 20;

/** Shorter ones all the same: files whose name or place is given. */
const SHORT_BY_KIND: readonly { readonly path: RegExp; readonly why: string }[] = [
  {
    path: /^src\/[\w/-]+\/(?:module|api)\.ts$/,
    why: 'each module has a manifest and an api by these names',
  },
  { path: /\.d\.ts$/, why: 'a declaration of what has no types' },
  { path: /^src\/web\/dashboard\/web\/application\/main\.tsx$/, why: 'the entry of a page' },
  {
    path: /^src\/engine\/duties\/|-(?:pruner|recorder|stopper)\.ts$/,
    why: 'one background job a file, and what all jobs share',
  },
  { path: /^src\/ops\/commands\//, why: 'one command a file, and what several commands share' },
  { path: /^src\/platform\/db\/schema\//, why: 'the tables of one subject, as drizzle-kit reads them' },
];

/** Shorter ones all the same, and why. */
const SHORT: Readonly<Record<string, string>> = {
  'src/web/dashboard/web/application/pages/audiences/joining.tsx':
    'the two ways to join, for both pages that ask',
  'src/web/dashboard/web/application/pages/flows/forms/time-zone.tsx': 'one field of several forms of steps',
  'src/web/dashboard/web/application/ui/forms/form-words.ts':
    'shown before sign-in too, which loads no form of the application',
  'src/web/dashboard/web/application/ui/forms/or-null.ts':
    'a rule of texts without a browser, for forms and drafts',
  'src/web/dashboard/web/application/ui/forms/source-line.ts':
    'for pages that load the editor of source only where it is opened',
  'src/web/dashboard/web/application/ui/forms/outside-form.tsx': 'for dialogs of any page',
  'src/web/dashboard/web/application/api/changed-ids.ts':
    'a rule without a browser, beside code that needs one',
  'src/web/dashboard/web/application/pages/requests/outcome.tsx':
    'shown by the list and by the page of a request, which is loaded apart',
  'src/mail/authentication/organization.ts':
    'read by the sums of reports, apart from the library that checks senders',
  'src/platform/config/plans.ts': 'read by settings, limits and schemas alike',
  'src/platform/bodies/address.ts': 'read by the settings, apart from the code that asks a server',
  'src/ops/torture/faults/wrong-clock.ts': 'the one place that sets a clock wrong',
  'src/platform/async/close-server.ts': 'closes the servers of HTTP and of the control socket alike',
  'src/platform/config/transport-names.ts': 'read by settings and transports alike',
  'src/engine/store/store-of.ts': 'the one place that chooses how actors are stored',
  'src/engine/explanation.ts': 'shown in browsers too, which load nothing of the engine',
  'src/engine/chaos.ts': 'what a torture run replaces, known to the service without the torture',
  'src/platform/config/version.ts': 'the one place that reads package.json',
  'src/web/dashboard/embedded.ts': 'replaced by the build',
  'src/web/dashboard/web/application/ui/machine/layouts.ts': 'replaced by the build',
  'src/platform/text/forgotten.ts':
    'for every area that forgets or meets a forgotten person, and in browsers',
  'src/platform/text/own-member.ts': 'for objects of every area, and in browsers',
  'src/mail/message/resource-hints.ts':
    'the one rule for what is shown of a message, on the server and in the browser',
  'src/web/dashboard/web/application/pages/api-keys/curl.ts': 'the one command that pages show with a key',
  'src/platform/db/living.ts': 'one rule for all code that counts instances',
  'src/platform/db/numbered-time.ts': 'one time for all statements that searches and collectors rest on',
  'src/platform/db/server/prepared.ts': 'replaced by the build',
  'src/platform/errors/unavailable.ts': 'the one error that every layer knows',
  'src/http/log.ts': 'a type below all that logs',
  'src/sending/webhooks/endpoints/secret.ts': 'the one place where a secret is made',
  'src/platform/telemetry/open-tracing.ts': 'the one place that loads the library of traces',
  'src/platform/telemetry/readable.ts':
    'the form of lines for people, beside the logger that writes for programs',
  'src/platform/crypto/authorities.ts': 'loaded once for all transports, by the service and by the doctor',
  'src/mail/transport/direct/public-address.ts': 'a rule of security, to be found by its name',
  'src/mail/dns/tag-list.ts': 'the syntax of DKIM, DMARC and MTA-STS records alike (RFC 6376, 3.2)',
  'src/platform/time/monotonic.ts': 'a type of all that measures intervals',
  'src/sending/emails/bulk/writing-thread.ts':
    'the entry of a thread, apart from its work, which tests do without one',
  'src/mail/transport/ses/sns-requests.ts': 'the one request to SNS, injected where it is used',
};

const isExplained = (path: string): boolean =>
  path in SHORT || SHORT_BY_KIND.some((kind) => kind.path.test(path));

/** The problems of a file's size. Tests may be as short as they like. */
export function sizeProblemsOf(path: string, lines: number): string[] {
  const isProduct = /^(?:src|machines)\//.test(path);
  if (path in SHORT && lines >= FEWEST_LINES)
    return ['is no longer short: remove it from the list of short files'];
  if (lines > MOST_LINES) return [`has ${lines} lines, over ${MOST_LINES}: find the second job in it`];
  return isProduct && lines < FEWEST_LINES && !isExplained(path)
    ? [
        `has ${lines} lines, under ${FEWEST_LINES}: merge it with its neighbour, or give the reason in scripts/arrows/sizes.ts`,
      ]
    : [];
}
