import { useQuery } from '@tanstack/react-query';
import type { Workspace } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { request } from '../../api/requests.ts';
import { entry } from '../../api/session.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { Choice, Field, Form } from '../../ui/form.tsx';
import { dayText } from '../../ui/format.ts';
import { Card, Facts } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';

/** The zones that the service knows, that of the workspace among them: it may be an offset. */
const zoneOptions = (own: string, known: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries([...new Set([own, 'UTC', ...known])].map((zone) => [zone, zone.replaceAll('_', ' ')]));

/** An empty field is nothing. */
const orNull = (text = ''): string | null => (text.trim() === '' ? null : text.trim());

/** The name, the default sender and the time zone. */
export function General({ workspace }: { readonly workspace: Workspace }) {
  const { may } = useViewer();
  const update = useChange('PATCH /workspace');
  const { data: zones = [] } = useQuery({
    queryKey: ['time-zones'],
    queryFn: async ({ signal }) => (await request<readonly string[]>('GET', 'time-zones', { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!may('workspace:write'))
    return (
      <Card title="General" about="Your role reads only.">
        <Facts
          facts={{
            Name: workspace.name,
            'Default sender': workspace.defaultFrom ?? 'none',
            'Reply to': workspace.defaultReplyTo ?? 'none',
            'Time zone': workspace.timeZone,
          }}
        />
      </Card>
    );
  return (
    <>
      <Card title="General">
        <div className="max-w-xl">
          <Form
            action="Save"
            onSend={async ({ name = '', defaultFrom, defaultReplyTo, timeZone = 'UTC' }) => {
              await update.mutateAsync({
                body: {
                  name,
                  defaultFrom: orNull(defaultFrom),
                  defaultReplyTo: orNull(defaultReplyTo),
                  timeZone,
                },
              });
              if (timeZone !== workspace.timeZone) await entry.session();
              toast('The settings are saved.');
            }}
          >
            <Field label="Name" name="name" defaultValue={workspace.name} autoComplete="organization" />
            <Field
              label="Default sender"
              name="defaultFrom"
              defaultValue={workspace.defaultFrom ?? ''}
              placeholder="Acme <hello@acme.example>"
              hint="At a verified domain. It is used where neither the request nor the template names one."
            />
            <Field
              label="Default reply address"
              name="defaultReplyTo"
              defaultValue={workspace.defaultReplyTo ?? ''}
            />
            <Choice
              label="Time zone"
              name="timeZone"
              options={zoneOptions(workspace.timeZone, zones)}
              defaultValue={workspace.timeZone}
              hint="Times are shown, and days and the hours of flows are counted, in it."
            />
          </Form>
        </div>
      </Card>
      <Card>
        <Facts facts={{ Id: <Id id={workspace.id} />, Made: dayText(workspace.createdAt) }} />
      </Card>
    </>
  );
}
