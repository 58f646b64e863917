import { useState } from 'react';
import type { InboundRoute } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Secret } from '../webhooks/secret.tsx';

type MatchType = InboundRoute['match']['type'];
type ActionType = InboundRoute['action']['type'];

const MATCHES = {
  exact: 'One address',
  prefix: 'Addresses that begin with …',
  catchAll: 'Every address',
} as const satisfies Record<MatchType, string>;
const ACTIONS = {
  webhook: 'Post it to a URL',
  forward: 'Forward it to people of the workspace',
  keep: 'Keep it for the API and the inbox',
} as const satisfies Record<ActionType, string>;

/** Adds a route, and shows the secret of its webhook once. */
export function NewRoute(props: {
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  readonly onClose: () => void;
}) {
  const { domains, onClose } = props;
  const [secret, setSecret] = useState<string | null>(null);
  const [match, setMatch] = useState<MatchType>('exact');
  const [action, setAction] = useState<ActionType>('webhook');
  const create = useChange('POST /inbound-routes', ['domains']);
  if (secret !== null) return <Secret title="Secret of the route" secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Add route" onClose={onClose} width="max-w-xl">
      <Form
        action="Add route"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async (fields) => {
          const { domainId = '', priority = '' } = fields;
          const localPart = fields['match/localPart']?.trim();
          const url = fields['action/url']?.trim();
          const to = fields['action/to']?.split(/[\s,]+/).filter((one) => one !== '') ?? [];
          const targets = action === 'forward' ? { to } : {};
          const made = await create.mutateAsync({
            body: {
              domainId,
              match: { type: match, ...(match !== 'catchAll' && { localPart: localPart ?? '' }) },
              action: { type: action, ...(action === 'webhook' && { url: url ?? '' }), ...targets },
              ...(priority.trim() !== '' && { priority: Number(priority) }),
            },
          });
          if (made.secret !== null) return setSecret(made.secret);
          toast('Route added');
          onClose();
        }}
      >
        <Choice
          label="Domain"
          name="domainId"
          options={Object.fromEntries(domains.map(({ id, name }) => [id, name]))}
        />
        <Choice
          label="Takes"
          name="match/type"
          options={MATCHES}
          defaultValue={match}
          onChange={(value) => setMatch(value as MatchType)}
        />
        {match !== 'catchAll' && (
          <Field
            label={match === 'exact' ? 'Name before the @' : 'Beginning of the name'}
            name="match/localPart"
            placeholder="support"
            hint="Upper and lower case are the same, and what follows a plus is left to the sender."
          />
        )}
        <Choice
          label="Then"
          name="action/type"
          options={ACTIONS}
          defaultValue={action}
          onChange={(value) => setAction(value as ActionType)}
        />
        {action === 'webhook' && (
          <Field label="URL" name="action/url" type="url" placeholder="https://example.com/hooks/inbound" />
        )}
        {action === 'forward' && (
          <Field
            label="Targets"
            name="action/to"
            placeholder="ada@example.com"
            hint="Up to five addresses, with commas between: of members, or at verified domains of the workspace."
          />
        )}
        <Field
          label="Priority"
          name="priority"
          inputMode="numeric"
          placeholder="100"
          hint="Where several routes match, the lowest number takes the message."
        />
      </Form>
    </Dialog>
  );
}
