import { useRef, useState } from 'react';
import type { Campaign } from '../../api/operations.ts';
import { useChange, useList } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Badge } from '../../ui/badge.tsx';
import CodeEditor from '../../ui/code-editor.tsx';
import { Choice, Field, type Fields, Form, Problem, TextArea, Tick } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { useAudienceNames } from '../names.ts';
import { CampaignMenu } from './actions.tsx';
import { Checks } from './checks.tsx';
import { CampaignPreview } from './preview.tsx';
import { FAILED } from './words.ts';

const CONTENT = { markdown: 'Markdown', html: 'HTML', template: 'A template' } as const;
type Content = keyof typeof CONTENT;

const contentOf = ({ templateId, html }: Campaign): Content => {
  if (templateId !== null) return 'template';
  return html === null ? 'markdown' : 'html';
};
const TRACKING = { domain: 'As the domain says', on: 'Yes', off: 'No' } as const;
const TRACKED: Readonly<Record<string, boolean | undefined>> = { on: true, off: false };
const trackingOf = (isOn: boolean | null): keyof typeof TRACKING =>
  isOn === null ? 'domain' : isOn ? 'on' : 'off';

/** The values of variables from their JSON. @throws Refused */
function valuesIn(text = ''): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const message = `This is no JSON: ${(error as Error).message}`;
    throw new Refused(422, message, null, [{ path: '/body/variables', message }]);
  }
}

const orNull = (text = ''): string | null => (text.trim() === '' ? null : text.trim());
const numberOrNull = (text = ''): number | null => (text.trim() === '' ? null : Number(text));

/** Edits a draft: to whom, from whom, and what. What somebody would get is beside it, as it was saved last. */
export default function CampaignEditor({ campaign }: { readonly campaign: Campaign }) {
  const { environment } = useViewer();
  const { id } = campaign;
  const [content, setContent] = useState(() => contentOf(campaign));
  const [source, setSource] = useState(campaign.markdown ?? campaign.html ?? '');
  const [isCanary, setCanary] = useState(campaign.canary !== null);
  const form = useRef<HTMLDivElement>(null);
  const audiences = useAudienceNames();
  const { items: templates = [] } = useList('GET /templates', { query: { limit: 100 } });
  const change = useChange('PATCH /campaigns/{id}');
  useKeys({ 'mod s': () => form.current?.querySelector('form')?.requestSubmit() });

  const save = async (fields: Fields) => {
    const { name = '', audienceId = '', replyTo = '' } = fields;
    const canary = {
      percent: Number(fields['canary/percent']),
      holdMinutes: Number(fields['canary/holdMinutes']),
      maxBounceRate: Number(fields['canary/maxBounceRate']),
      maxComplaintRate: Number(fields['canary/maxComplaintRate']),
    };
    await change.mutateAsync({
      path: { id },
      body: {
        name,
        audienceId,
        excludeAudienceIds: Object.keys(audiences).filter((each) => fields[`exclude ${each}`] === 'on'),
        from: orNull(fields.from),
        replyTo: replyTo
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== ''),
        subject: orNull(fields.subject),
        previewText: orNull(fields.previewText),
        templateId: content === 'template' ? orNull(fields.templateId) : null,
        markdown: content === 'markdown' ? source : null,
        html: content === 'html' ? source : null,
        ratePerHour: numberOrNull(fields.ratePerHour),
        canary: isCanary ? canary : null,
        trackOpens: TRACKED[fields.trackOpens ?? ''] ?? null,
        trackClicks: TRACKED[fields.trackClicks ?? ''] ?? null,
        ...(content === 'template' && { variables: valuesIn(fields.variables) }),
      },
    });
    toast('It is saved.');
  };

  return (
    <Page
      title={campaign.name}
      back={{ to: '/campaigns', text: 'Campaigns' }}
      about={
        <Badge status={campaign.status}>{campaign.status === 'failed' ? 'Could not start' : 'Draft'}</Badge>
      }
      actions={<CampaignMenu campaign={campaign} />}
    >
      {campaign.failureReason && (
        <Problem>{FAILED[campaign.failureReason]} Mend it, and send it again.</Problem>
      )}
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <div ref={form} className="grid gap-5">
          <Card title="The message">
            <Form action="Save" onSend={save}>
              <Field label="Name" name="name" defaultValue={campaign.name} hint="For you alone." />
              <Choice
                label="Audience"
                name="audienceId"
                options={{ [campaign.audienceId]: 'An audience', ...audiences }}
                defaultValue={campaign.audienceId}
                key={Object.keys(audiences).length}
              />
              {Object.keys(audiences).length > 1 && (
                <details className="rounded-lg border border-edge px-3 py-2">
                  <summary className="cursor-pointer font-medium">
                    Leave out
                    {campaign.excludeAudienceIds.length > 0 && ` (${campaign.excludeAudienceIds.length})`}
                  </summary>
                  <div className="mt-2 grid gap-2">
                    {Object.entries(audiences).map(([each, text]) => (
                      <Tick
                        key={each}
                        name={`exclude ${each}`}
                        label={text}
                        defaultChecked={campaign.excludeAudienceIds.includes(each)}
                      />
                    ))}
                  </div>
                </details>
              )}
              <div className="grid gap-4 sm:grid-cols-2">
                <Field
                  label="From"
                  name="from"
                  defaultValue={campaign.from ?? ''}
                  placeholder="Acme <news@acme.example>"
                  hint="The sender of the template or of the workspace, when empty."
                />
                <Field label="Reply to" name="replyTo" defaultValue={campaign.replyTo.join(', ')} />
              </div>
              <Field label="Subject" name="subject" defaultValue={campaign.subject ?? ''} />
              <Field
                label="Preview text"
                name="previewText"
                defaultValue={campaign.previewText ?? ''}
                hint="What inboxes show behind the subject."
              />
              <Choice
                label="Written as"
                name="content"
                options={CONTENT}
                defaultValue={content}
                onChange={(value) => setContent(value as Content)}
              />
              {content === 'template' ? (
                <Choice
                  label="Template"
                  name="templateId"
                  options={{
                    '': 'Choose one',
                    ...(campaign.templateId !== null && { [campaign.templateId]: campaign.templateId }),
                    ...Object.fromEntries(templates.map((each) => [each.id, each.name])),
                  }}
                  defaultValue={campaign.templateId ?? ''}
                  key={templates.length}
                />
              ) : (
                <div className="h-96 overflow-hidden rounded-lg border border-edge-strong">
                  <CodeEditor
                    key={content}
                    label={content === 'html' ? 'HTML source' : 'Markdown source'}
                    language={content}
                    value={source}
                    onChange={setSource}
                  />
                </div>
              )}
              {content === 'template' && (
                <TextArea
                  label="Values of its variables"
                  name="variables"
                  defaultValue={
                    Object.keys(campaign.variables).length === 0
                      ? ''
                      : JSON.stringify(campaign.variables, null, 2)
                  }
                  placeholder={'{ "month": "July" }'}
                  hint="As JSON, the same for everybody; what is known of a contact is filled in by itself."
                />
              )}
              <div className="grid gap-4 sm:grid-cols-2">
                <Choice
                  label="Count opens"
                  name="trackOpens"
                  options={TRACKING}
                  defaultValue={trackingOf(campaign.trackOpens)}
                />
                <Choice
                  label="Count clicks"
                  name="trackClicks"
                  options={TRACKING}
                  defaultValue={trackingOf(campaign.trackClicks)}
                />
              </div>
              <Field
                label="At most, an hour"
                name="ratePerHour"
                inputMode="numeric"
                defaultValue={campaign.ratePerHour === null ? '' : String(campaign.ratePerHour)}
                hint="Emails an hour, evenly spread. As fast as they leave, when empty."
              />
              <div>
                <label className="flex gap-2.5">
                  <input
                    type="checkbox"
                    checked={isCanary}
                    onChange={({ target }) => setCanary(target.checked)}
                    className="mt-0.5 size-4 shrink-0 accent-accent"
                  />
                  <span>
                    Send it to a share first
                    <span className="block text-caption text-dim">
                      The rest follows when few of them bounced or complained.
                    </span>
                  </span>
                </label>
              </div>
              {isCanary && <CanaryFields canary={campaign.canary} />}
            </Form>
          </Card>
        </div>
        <div className="grid gap-5">
          <Checks campaign={campaign} isLive={environment === 'live'} />
          <CampaignPreview campaign={campaign} />
        </div>
      </div>
    </Page>
  );
}

const CANARY = [
  ['percent', 'Share, in percent', 'decimal', 10],
  ['holdMinutes', 'Wait, in minutes', 'numeric', 30],
  ['maxBounceRate', 'Most bounces, in percent', 'decimal', 5],
  ['maxComplaintRate', 'Most complaints, in percent', 'decimal', 0.3],
] as const;

const CanaryFields = ({ canary }: { readonly canary: Campaign['canary'] }) => (
  <div className="grid gap-4 sm:grid-cols-2">
    {CANARY.map(([name, label, inputMode, usual]) => (
      <Field
        key={name}
        label={label}
        name={`canary/${name}`}
        inputMode={inputMode}
        defaultValue={String(canary?.[name] ?? usual)}
      />
    ))}
  </div>
);
