import type { Webhook } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useEditing } from '../../editing/use-editing.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { EVENT_NAMES, EventTicks } from './events.tsx';

type WebhookValues = Readonly<Record<string, string | boolean>>;
const LABELS: Readonly<Record<string, string>> = {
  url: 'URL',
  ...Object.fromEntries(EVENT_NAMES.map((name) => [`event ${name}`, `Event “${name}”`])),
};

/**
 * Changes the URL and the events of an endpoint. URLs may hold a token of the receiver, so no draft is kept.
 */
export function EditWebhook({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}) {
  const path = { id: webhook.id };
  const update = useChange('PATCH /webhooks/{id}');
  const { refetch } = useRead('GET /webhooks/{id}', { path });
  const editing = useEditing<Webhook, WebhookValues>({
    place: `webhooks/${webhook.id}`,
    current: webhook,
    labels: LABELS,
    isKept: false,
    read: ({ url, events }) => ({
      url,
      ...Object.fromEntries(EVENT_NAMES.map((name) => [`event ${name}`, events.includes(name)])),
    }),
    write: ({ url, ...ticks }, ifUpdatedAt, values) =>
      update.mutateAsync({
        path,
        body: {
          ...(url !== undefined && { url: String(url).trim() }),
          ...(Object.keys(ticks).length > 0 && {
            events: EVENT_NAMES.filter((name) => values[`event ${name}`] === true),
          }),
          ifUpdatedAt,
        },
      }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? webhook,
  });
  return (
    <Dialog title="Edit endpoint" onClose={onClose} width="max-w-xl">
      <Form
        action="Save"
        aside={<Button onClick={onClose}>Cancel</Button>}
        editing={editing}
        onSaved={() => {
          onClose();
          toast('Endpoint saved');
        }}
      >
        <Field label="URL" name="url" type="url" />
        <EventTicks ticked={webhook.events} />
      </Form>
    </Dialog>
  );
}
