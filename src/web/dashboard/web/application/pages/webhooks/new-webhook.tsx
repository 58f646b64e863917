import { useState } from 'react';
import { useLocation } from 'wouter';
import type { WebhookWithSecret } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { EventTicks, tickedEvents } from './events.tsx';
import { Secret } from './secret.tsx';

/** Adds an endpoint, and shows its secret once. */
export function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [created, setCreated] = useState<WebhookWithSecret | null>(null);
  const create = useChange('POST /webhooks');
  return created ? (
    <Secret
      title="Endpoint secret"
      secret={created.secret}
      onClose={() => {
        onClose();
        navigate(`/webhooks/${created.id}`);
      }}
    />
  ) : (
    <Dialog title="Add endpoint" onClose={onClose} width="max-w-xl">
      <Form
        action="Add endpoint"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ url = '', ...fields }) =>
          setCreated(await create.mutateAsync({ body: { url: url.trim(), events: tickedEvents(fields) } }))
        }
      >
        <Field label="URL" name="url" type="url" placeholder="https://example.com/hooks/mail" />
        <EventTicks ticked={['delivered', 'bounced', 'complained']} />
      </Form>
    </Dialog>
  );
}
