import { useQuery } from '@tanstack/react-query';
import { request } from '../../api/requests.ts';
import type { Session } from '../../api/session.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Choice, Form } from '../../ui/forms/form.tsx';
import { orNull } from '../../ui/forms/or-null.ts';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { languageOptions, ownName } from '../email-languages.ts';
import { useAccountChange } from './account.ts';

/** Chooses the language of the emails that the service itself sends to the person. */
export function EmailLanguage() {
  const change = useAccountChange('language');
  const { data, error, refetch } = useQuery({
    queryKey: ['account', 'language'],
    queryFn: async ({ signal }) => (await request<Session>('GET', 'session', { signal })).data.member,
  });
  return (
    <Card
      title="Language of emails"
      about="Warnings, links for a new password and notices about your sign-in. The dashboard is in English."
    >
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-16 w-full" />}
      {data && (
        <div className="max-w-md">
          <Form
            action="Save language"
            onSend={async ({ language }) => {
              await change('PATCH', '', { language: orNull(language) });
              toast('Language saved');
            }}
          >
            <Choice
              label="Language"
              name="language"
              options={languageOptions('Language of the workspace', data.language)}
              defaultValue={data.language ?? ''}
              hint={`Emails from this workspace are in ${ownName(data.emailLanguage)}.`}
            />
          </Form>
        </div>
      )}
    </Card>
  );
}
