import { useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { useKeys } from '../../shell/keys.ts';
import { Badge } from '../../ui/display/badge.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { useSourceLine } from '../../ui/forms/source-line.ts';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { CheckPanel } from '../check.tsx';
import { useAudienceNames, useTemplateNames } from '../names.ts';
import { CampaignMenu } from './actions.tsx';
import { CampaignFields, type ContentView } from './campaign-fields.tsx';
import { bodyOf, type CampaignValues, CONTENT, LABELS, TRACKING, valuesOf } from './campaign-values.ts';
import { Checks } from './checks.tsx';
import { DraftPreview } from './preview.tsx';
import { SendCampaign } from './send.tsx';

/** The editor of a draft: audience, sender and content, beside a preview. */
export default function CampaignEditor({ campaign }: { readonly campaign: Campaign }) {
  const { environment, may } = useViewer();
  const path = { id: campaign.id };
  const [sending, setSending] = useState<Campaign | null>(null);
  const audiences = useAudienceNames();
  const templates = useTemplateNames();
  const change = useChange('PATCH /campaigns/{id}');
  const { refetch } = useRead('GET /campaigns/{id}', { path });
  const editing = useEditing<Campaign, CampaignValues>({
    place: `campaigns/${campaign.id}`,
    current: campaign,
    labels: LABELS,
    read: valuesOf,
    write: (changed, ifUpdatedAt, values) => {
      const names = Object.keys(changed) as (keyof CampaignValues)[];
      return change.mutateAsync({ path, body: { ...bodyOf(names, values), ifUpdatedAt } });
    },
    reread: async () => (await refetch({ throwOnError: true })).data ?? campaign,
    show: (name, value) => shownOf(name, value, audiences, templates),
  });
  useKeys({ 'mod s': () => void save() });
  const save = async () => {
    if (await editing.save()) toast('Saved');
  };
  const { templateId } = campaign;
  const template = useRead(
    'GET /templates/{id}',
    { path: { id: templateId ?? '' } },
    { enabled: templateId !== null && may('templates:read') },
  );
  // A campaign with a language is checked in that one.
  const languages = campaign.language === null ? (template.data?.languages ?? []) : [];
  const [view, setView] = useState<ContentView>('visual');
  const line = useSourceLine(() => setView('code'));
  return (
    <Page
      title={campaign.name}
      back={{ to: '/campaigns', text: 'Campaigns' }}
      about={<Badge status="draft">Draft</Badge>}
      actions={<CampaignMenu campaign={campaign} editing={editing} />}
    >
      <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-2">
        <Card title="Message">
          <Form action="Save" editing={editing} isSticky onSaved={() => toast('Saved')}>
            <CampaignFields
              editing={editing}
              audiences={audiences}
              templates={templates}
              view={view}
              onView={setView}
              line={line}
            />
          </Form>
        </Card>
        <div className="grid gap-5">
          <Checks
            campaign={campaign}
            isLive={environment === 'live'}
            editing={editing}
            onSend={async () => setSending(await editing.save())}
          />
          <CheckPanel
            of="GET /campaigns/{id}/check"
            id={campaign.id}
            languages={languages}
            state={campaign.updatedAt}
            isChanged={editing.isChanged}
            onLine={line.show}
            templateId={campaign.templateId}
            campaignLanguage={campaign.language}
          />
          <DraftPreview campaign={campaign} editing={editing} />
        </div>
      </div>
      {sending && <SendCampaign campaign={sending} onClose={() => setSending(null)} />}
    </Page>
  );
}

type Names = Readonly<Record<string, string>>;

/** A value of a campaign as people read it. */
function shownOf(name: string, value: unknown, audiences: Names, templates: Names): string {
  if (Array.isArray(value)) return value.map((each) => audiences[each] ?? String(each)).join(', ');
  if (typeof value === 'object' && value !== null) return Object.values(value).join('\n\n');
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const text = String(value);
  const texts: Readonly<Record<string, Names>> = {
    audienceId: audiences,
    templateId: templates,
    content: CONTENT,
    trackOpens: TRACKING,
    trackClicks: TRACKING,
  };
  return texts[name]?.[text] ?? text;
}
