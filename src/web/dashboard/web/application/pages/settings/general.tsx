import { useQuery } from '@tanstack/react-query';
import type { Workspace } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { request } from '../../api/requests.ts';
import { entry } from '../../api/session.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { Id } from '../../ui/display/copy-button.tsx';
import { dayText } from '../../ui/display/format.ts';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { orNull } from '../../ui/forms/or-null.ts';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { languageOptions, ownName } from '../email-languages.ts';

/** The zones that the service knows, that of the workspace among them: it may be an offset. */
const zoneOptions = (own: string, known: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries([...new Set([own, 'UTC', ...known])].map((zone) => [zone, zone.replaceAll('_', ' ')]));

/** The name, the default sender, the time zone and the language. */
export function General({ workspace }: { readonly workspace: Workspace }) {
  const { may } = useViewer();
  if (!may('workspace:write'))
    return (
      <Card title="General" about="Your role is read-only.">
        <Facts
          facts={{
            Name: workspace.name,
            'Default sender': workspace.defaultFrom ?? 'none',
            'Reply to': workspace.defaultReplyTo ?? 'none',
            'Time zone': workspace.timeZone,
            'Language of emails': ownName(workspace.emailLanguage),
          }}
        />
      </Card>
    );
  return <EditGeneral workspace={workspace} />;
}

const LABELS = {
  name: 'Name',
  defaultFrom: 'Default sender',
  defaultReplyTo: 'Default reply address',
  timeZone: 'Time zone',
  language: 'Language of emails',
} as const;

function EditGeneral({ workspace }: { readonly workspace: Workspace }) {
  const update = useChange('PATCH /workspace');
  const { refetch } = useRead('GET /workspace', {});
  const { data: zones = [] } = useQuery({
    queryKey: ['time-zones'],
    queryFn: async ({ signal }) => (await request<readonly string[]>('GET', 'time-zones', { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const editing = useEditing<Workspace, Readonly<Record<keyof typeof LABELS, string>>>({
    place: 'workspace/general',
    current: workspace,
    labels: LABELS,
    read: ({ name, defaultFrom, defaultReplyTo, timeZone, language }) => ({
      name,
      timeZone,
      defaultFrom: defaultFrom ?? '',
      defaultReplyTo: defaultReplyTo ?? '',
      language: language ?? '',
    }),
    write: async ({ defaultFrom, defaultReplyTo, language, ...changed }, ifUpdatedAt) => {
      const saved = await update.mutateAsync({
        body: {
          ...changed,
          ...(defaultFrom !== undefined && { defaultFrom: orNull(defaultFrom) }),
          ...(defaultReplyTo !== undefined && { defaultReplyTo: orNull(defaultReplyTo) }),
          ...(language !== undefined && { language: orNull(language) }),
          ifUpdatedAt,
        },
      });
      // The session tells the zone that every page shows its times in.
      if (changed.timeZone !== undefined) await entry.session(workspace.id);
      return saved;
    },
    reread: async () => (await refetch({ throwOnError: true })).data ?? workspace,
  });
  return (
    <>
      <Card title="General">
        <div className="max-w-xl">
          <Form action="Save" editing={editing} onSaved={() => toast('Settings saved')}>
            <Field label="Name" name="name" autoComplete="organization" />
            <Field
              label="Default sender"
              name="defaultFrom"
              placeholder="Acme <hello@acme.example>"
              hint="At a verified domain. Used when neither the request nor the template names a sender."
            />
            <Field label="Default reply address" name="defaultReplyTo" />
            <Choice
              label="Time zone"
              name="timeZone"
              options={zoneOptions(workspace.timeZone, zones)}
              hint="The time zone for displayed times, analytics days and flow hours."
            />
            <Choice
              label="Language of emails"
              name="language"
              options={languageOptions('English, unless chosen', workspace.language)}
              hint="Of invitations, warnings and confirmations to people who have chosen no language."
            />
          </Form>
        </div>
      </Card>
      <Card>
        <Facts facts={{ Id: <Id id={workspace.id} />, Created: dayText(workspace.createdAt) }} />
      </Card>
    </>
  );
}
