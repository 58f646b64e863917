import { createTransport } from 'nodemailer';
import { textPartOf } from '../../src/mail/content/text-part.ts';
import { withWayOut } from '../../src/mail/html/way-out.ts';
import { eventually } from '../support/eventually.ts';
import { type GeneratedSet, generatedSet, languagesOf } from '../support/generated-templates.ts';
import type { Email, LiveService } from '../support/live-service.ts';

/** The subject and both bodies of an email. */
interface Parts {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** A way on which a template gave other bytes than its preview. */
export interface Difference {
  readonly seed: number;
  readonly way: string;
  readonly expected: string;
  readonly got: string;
}

const SENDER = { from: 'Shop <shop@sender.example>', to: 'ada@sender.example' };
const PATIENT = { withinMs: 120_000 };

/**
 * Makes generated templates with their layouts, partials and translations, and sends each on every way: a
 * preview, a test, a single email, a batch, SMTP by header, a flow and a campaign. Then its layers change,
 * and the first version is compared with what it gave.
 */
export async function sameBytes(
  service: LiveService,
  {
    smtpPort,
    from,
    count,
    others,
    say = () => {},
  }: {
    readonly smtpPort: number;
    readonly from: number;
    readonly count: number;
    /** The number of languages in which each template is asked for, besides none. */
    readonly others: number;
    readonly say?: (line: string) => void;
  },
): Promise<{ readonly compared: number; readonly differences: readonly Difference[] }> {
  const ok = ({ status, body }: { readonly status: number; readonly body: Email }): Email => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body.data;
  };
  const post = async (path: string, body: object): Promise<Email> => ok(await service.live.post(path, body));
  const get = async (path: string): Promise<Email> => ok(await service.live.get(path));
  const emailOf = async (id: string): Promise<Parts> => partsOf(await get(`/v1/emails/${id}`));
  const auth = { user: 'svc', pass: service.keys.live };
  const mailer = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true, auth });
  const differences: Difference[] = [];
  let compared = 0;

  const one = async (seed: number, set: GeneratedSet): Promise<void> => {
    const layers: Email[] = [];
    for (const layer of set.layers) layers.push(await post('/v1/templates', layer));
    const { id, alias } = await post('/v1/templates', set.template);
    const { values: variables } = set;
    // An environment has a limited number of audiences, and a campaign keeps its own.
    const { id: audienceId } = await post('/v1/audiences', { name: `${seed}` });
    const old: FirstVersion[] = [];
    const compare = (way: string, language: string | null, got: Parts, wanted: Parts): void => {
      compared++;
      const [one, other] = [JSON.stringify(wanted), JSON.stringify(got)];
      const named = language === null ? way : `${way} (${language})`;
      if (one !== other) differences.push({ seed, way: named, ...around(one, other) });
    };
    for (const [n, language] of languagesOf(seed, others).entries()) {
      const chosen = language === null ? {} : { language };
      const preview = await post('/v1/templates/render-preview', { templateId: id, variables, ...chosen });
      const expected = partsOf(preview);
      const same = (way: string, got: Parts, wanted = expected) => compare(way, language, got, wanted);
      const request = { ...SENDER, variables, ...chosen };
      same('single', await emailOf((await post('/v1/emails', { ...request, templateId: id })).id));
      const batch = await post('/v1/emails/batch', { emails: [{ ...request, templateId: alias }] });
      same('batch', await emailOf(batch[0].id));
      const test = await post(`/v1/templates/${id}/test-send`, { to: [SENDER.to], variables, ...chosen });
      const tested = await emailOf(test.id);
      same('test-send', { ...tested, subject: tested.subject.replace(/^\[Test\] /, '') });
      const headers = {
        'X-Svc-Template': alias,
        'X-Svc-Variables': headerOf(variables),
        ...(language !== null && { 'X-Svc-Language': language }),
      };
      const { response } = await mailer.sendMail({ ...SENDER, text: 'ignored', headers });
      const [, smtpId = ''] = /Accepted as (\w+)/.exec(response) ?? [];
      same('SMTP', await emailOf(smtpId));
      // The settings of bulk mail choose its language, else the property of the contact does.
      const isOfContact = (seed + n) % 2 === 0;
      const properties = isOfContact && language !== null ? { language: language.replace('-', '_') } : {};
      const bulk = { id, variables, properties, chosen: isOfContact ? {} : chosen, name: `${seed}-${n}` };
      same('flow', await emailOf(await byFlow(bulk)));
      // A campaign adds a way out where its author shows none.
      const hasText = 'markdown' in set.template || hasOwnText(set, preview.language);
      const inCampaigns = inCampaign(expected, hasText, preview.language);
      old.push({ language, expected, bulk, inCampaigns });
      same('campaign', await emailOf(await byCampaign(audienceId, bulk)), inCampaigns);
    }
    // Later layers change nothing of the first version, published again or not.
    ok(await service.live.patch(`/v1/templates/${layers[0].id}`, set.later));
    await post(`/v1/templates/${layers[0].id}/update-users`, {});
    for (const { language, expected } of old) {
      const version = { templateId: id, version: 1, variables, ...(language !== null && { language }) };
      compare(
        'old version',
        language,
        partsOf(await post('/v1/templates/render-preview', version)),
        expected,
      );
    }
    await post(`/v1/templates/${id}/publish`, { version: 1 });
    for (const { language, expected, bulk, inCampaigns } of old) {
      const request = { ...SENDER, templateId: id, variables, ...(language !== null && { language }) };
      compare('published again', language, await emailOf((await post('/v1/emails', request)).id), expected);
      // Sends remember a rendered version by its number; a campaign reads the version itself.
      const again = await byCampaign(audienceId, { ...bulk, name: `${bulk.name}-again` });
      compare('campaign of the version published again', language, await emailOf(again), inCampaigns);
    }
  };

  const byCampaign = async (audienceId: string, bulk: BulkSend): Promise<string> => {
    const { id, variables, properties, chosen, name } = bulk;
    const person = await post('/v1/contacts', { email: `c${name}@people.example`, properties });
    await post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [person.id] });
    const settings = { name, audienceId, templateId: id, variables, ...chosen };
    const campaign = await post('/v1/campaigns', settings);
    await post(`/v1/campaigns/${campaign.id}/send`, {});
    // Of the table, since a list of the API takes 2 ms of processor time each of twenty times instead of a
    // tenth of that.
    const emailId = await eventually(
      'the campaign leaves',
      async () => {
        const [email] = await service.service.database.query<{ id: string; state: string }>(
          'select id, state from emails_now where campaign_id = $1',
          [campaign.id],
        );
        return email?.state === 'delivered' ? email.id : undefined;
      },
      PATIENT,
    );
    await service.live.delete(`/v1/audiences/${audienceId}/contacts/${person.id}`);
    return emailId;
  };

  const byFlow = async ({ id, variables, properties, chosen, name }: BulkSend): Promise<string> => {
    const config = { templateId: id, variables, ...chosen };
    const flow = await post('/v1/flows', {
      name,
      trigger: { type: 'manual' },
      steps: [{ key: 'mail', type: 'sendEmail', config }],
    });
    await post(`/v1/flows/${flow.id}/activate`, {});
    const contact = await post('/v1/contacts', { email: `g${name}@example.com`, properties });
    const begun = await post(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
    const run = await eventually(
      'the run ends',
      async () => {
        const told = await get(`/v1/flows/runs/${begun.id}`);
        return told.endedAt === null ? undefined : told;
      },
      PATIENT,
    );
    // An environment has a limited number of flows.
    await post(`/v1/flows/${flow.id}/pause`, {});
    await service.live.delete(`/v1/flows/${flow.id}`);
    return run.log[0].emailId;
  };

  const AT_ONCE = 6;
  const seeds = Array.from({ length: count }, (_, n) => from + n);
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      await one(seed, generatedSet(seed)).catch((error: Error) => {
        differences.push({ seed, way: 'none', expected: 'no refusal', got: error.message.slice(0, 400) });
      });
      if (++done % 50 === 0)
        say(`${done} of ${count} templates, ${compared} comparisons, ${differences.length} differences`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { compared, differences };
}

/** A sending by a campaign or a flow. */
interface BulkSend {
  /** The template. */
  readonly id: string;
  readonly variables: object;
  readonly name: string;
  /** Those of the contact. */
  readonly properties: object;
  /** The language in the settings, where there is one. */
  readonly chosen: object;
}

/** The emails that the first version of a template gives. */
interface FirstVersion {
  readonly language: string | null;
  readonly expected: Parts;
  readonly inCampaigns: Parts;
  readonly bulk: BulkSend;
}

/** True where a template has a text of its author in a language, which is the one of the preview. */
function hasOwnText({ template }: GeneratedSet, language: string | null): boolean {
  const { translations } = template;
  const translation = language === null ? undefined : translations[language];
  return 'text' in (translation ?? template);
}

const partsOf = ({ subject, html, text }: Parts): Parts => ({ subject, html, text });

/** The email of a campaign: its text, made of the html or written by the author, gets a separate way out. */
function inCampaign(expected: Parts, hasText: boolean, language: string | null): Parts {
  const text = hasText ? expected.text : textPartOf({ html: expected.html, text: null });
  const left = withWayOut({ html: expected.html, text }, language);
  return { ...expected, html: left.html, text: left.text };
}

/** JSON in a header field, which takes ASCII alone. */
const headerOf = (values: object): string =>
  JSON.stringify(values).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function around(one: string, other: string): Pick<Difference, 'expected' | 'got'> {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return { expected: one.slice(from, at + 120), got: other.slice(from, at + 120) };
}
