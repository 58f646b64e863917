import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { TestEmail } from './test-email.tsx';

/** What was sent, what fails and why, and what needs a person now. */
export default function Overview() {
  const { session, environment, may } = useViewer();
  return (
    <Page title="Overview" heading={`Welcome, ${session.account.name}`}>
      {environment === 'test' && <TestEmail />}
      {may('api-keys:read') && (
        <Card
          title="Send from your program"
          about={`With a ${environment} API key, by HTTP or SMTP.`}
          actions={<ButtonLink to="/api-keys">API keys</ButtonLink>}
        />
      )}
    </Page>
  );
}
