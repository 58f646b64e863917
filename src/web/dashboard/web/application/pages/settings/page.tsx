import { useRead } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Branding } from './branding.tsx';
import { Ending } from './ending.tsx';
import { General } from './general.tsx';
import { ServiceEmails } from './service-emails.tsx';

const TABS = {
  general: 'General',
  brand: 'Brand',
  emails: 'Notifications',
  ending: 'Archive and delete',
} as const;

/** The settings of the workspace as a whole. */
export default function Settings() {
  const { session } = useMember();
  const tab = useTab(TABS);
  const { ending, ...others } = TABS;
  const { data, error, refetch } = useRead('GET /workspace', {});
  return (
    <Page title="Settings" about={`Settings of ${session.workspace.name}, for both environments.`}>
      <Tabs label="Settings" tabs={session.member.role === 'owner' ? TABS : others} current={tab} />
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-80 w-full" />}
      {data && tab === 'general' && <General key={data.id} workspace={data} />}
      {data && tab === 'brand' && <Branding workspace={data} />}
      {data && tab === 'emails' && <ServiceEmails workspace={data} />}
      {tab === 'ending' && session.member.role === 'owner' && <Ending />}
    </Page>
  );
}
