import { useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { momentTitle, spanText } from '../../ui/display/format.ts';
import { Time, useNow } from '../../ui/display/time.tsx';
import { Problem } from '../../ui/forms/form.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { useAudienceNames } from '../names.ts';
import { CampaignMenu } from './actions.tsx';
import { Ledger } from './ledger.tsx';
import { Links } from './links.tsx';
import { CampaignPreview } from './preview.tsx';
import { Recipients } from './recipients.tsx';
import { SendCampaign, startText } from './send.tsx';
import { FAILED, PAUSED, STATUSES } from './words.ts';

const TABS = { numbers: 'Numbers', recipients: 'Recipients', links: 'Links', message: 'Message' } as const;

/** A campaign that has been scheduled or started: what becomes of it. */
export function CampaignRun({ campaign }: { readonly campaign: Campaign }) {
  const tab = useTab(TABS);
  const names = useAudienceNames();
  const { id, status, pausedReason, scheduledAt } = campaign;
  return (
    <Page
      title={campaign.name}
      back={{ to: '/campaigns', text: 'Campaigns' }}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1" role="status">
          <Badge status={status}>{STATUSES[status]}</Badge>
          {status === 'scheduled' && scheduledAt !== null && <span>{startText(scheduledAt)}</span>}
          {status === 'paused' && pausedReason !== null && <span>{PAUSED[pausedReason]}</span>}
        </span>
      }
      actions={<Actions campaign={campaign} />}
    >
      {campaign.failureReason && (
        <Problem>
          {FAILED[campaign.failureReason]} Fix this and send the campaign again, or duplicate it to change its
          content.
        </Problem>
      )}
      <Tabs label="Campaign views" tabs={TABS} current={tab} />
      {tab === 'numbers' && (
        <>
          {hasBegun(campaign) ? <Ledger campaign={campaign} /> : <Ahead campaign={campaign} />}
          <Card title="Details">
            <Facts
              facts={{
                Audience: names[campaign.audienceId] ?? campaign.audienceId,
                Excluded: campaign.excludeAudienceIds.map((each) => names[each] ?? each).join(', '),
                From: campaign.from,
                Subject: campaign.subject,
                'Starts at': status === 'scheduled' && scheduledAt !== null ? momentTitle(scheduledAt) : null,
                Started: campaign.startedAt && <Time at={campaign.startedAt} />,
                Completed: campaign.completedAt && <Time at={campaign.completedAt} />,
                'Emails per hour': campaign.ratePerHour,
              }}
            />
          </Card>
        </>
      )}
      {tab === 'recipients' && <Recipients id={id} />}
      {tab === 'links' && <Links campaign={campaign} />}
      {tab === 'message' && <CampaignPreview campaign={campaign} />}
    </Page>
  );
}

/** False before the audience is counted: all numbers would be zeros. */
const hasBegun = ({ status, startedAt }: Campaign): boolean =>
  status !== 'scheduled' && (startedAt !== null || (status !== 'failed' && status !== 'cancelled'));

/** A campaign that has sent nothing yet: the time left, and the message. */
function Ahead({ campaign, campaign: { status, scheduledAt } }: { readonly campaign: Campaign }) {
  const now = useNow(1_000);
  const left = scheduledAt === null ? 0 : Date.parse(scheduledAt) - now;
  return (
    <>
      {status === 'scheduled' && scheduledAt !== null && (
        <Card
          title={left > 0 ? `Starts in ${spanText(left)}` : 'Starts now'}
          about="No email has been sent. The contacts of the audience are counted at the start."
        />
      )}
      <CampaignPreview campaign={campaign} />
    </>
  );
}

/** The actions that the campaign's state allows. */
function Actions({ campaign: { id, name, status }, campaign }: { readonly campaign: Campaign }) {
  const { environment, may } = useViewer();
  const [isAsking, setAsking] = useState(false);
  const [isSending, setSending] = useState(false);
  const pause = useChange('POST /campaigns/{id}/pause');
  const resume = useChange('POST /campaigns/{id}/send');
  const unschedule = useChange('POST /campaigns/{id}/unschedule');
  const cancel = useChange('POST /campaigns/{id}/cancel');
  const path = { id };
  const { data: stats } = useRead('GET /campaigns/{id}/stats', { path }, { enabled: isAsking });
  if (!may('campaigns:write')) return null;
  return (
    <>
      {(status === 'scheduled' || status === 'paused') && (
        <Button onClick={() => setAsking(true)}>Cancel campaign</Button>
      )}
      {status === 'scheduled' && (
        <Button
          busy={unschedule.isPending}
          onClick={() => unschedule.mutate({ path }, 'Campaign unscheduled. It is a draft again.')}
        >
          Unschedule
        </Button>
      )}
      {status === 'sending' && (
        <Button look="main" busy={pause.isPending} onClick={() => pause.mutate({ path }, 'Campaign paused')}>
          Pause
        </Button>
      )}
      {status === 'failed' && environment === 'live' && (
        <Button look="main" onClick={() => setSending(true)}>
          Send again
        </Button>
      )}
      {isSending && <SendCampaign campaign={campaign} onClose={() => setSending(false)} />}
      {status === 'paused' && environment === 'live' && (
        <Button
          look="main"
          busy={resume.isPending}
          onClick={() => resume.mutate({ path, body: {} }, 'Campaign resumed')}
        >
          Resume
        </Button>
      )}
      <CampaignMenu campaign={campaign} />
      {isAsking && (
        <Confirm
          title={`Cancel “${name}”?`}
          action="Cancel campaign"
          keep="Keep campaign"
          onClose={() => setAsking(false)}
          done="Campaign cancelled"
          onConfirm={() => cancel.mutateAsync({ path })}
        >
          {stats && stats.remaining > 0
            ? `${stats.remaining} contacts get no email. This cannot be undone, but you can send a copy.`
            : 'This cannot be undone, but you can send a copy.'}
        </Confirm>
      )}
    </>
  );
}
