import { useRef, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Secret } from '../../webhooks/secret.tsx';

/** Makes a new secret for what webhook steps post, of all flows of the environment, and shows it once. */
export function NewSecret({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  // Whoever confirms it is not done yet: the secret has to be copied.
  const isMade = useRef(false);
  const rotate = useChange('POST /flows/webhook-secret');
  return secret === null ? (
    <Confirm
      title="Make a new secret for flows?"
      action="Make a new secret"
      onClose={() => isMade.current || onClose()}
      onConfirm={async () => {
        const made = await rotate.mutateAsync({});
        isMade.current = true;
        setSecret(made.secret);
      }}
    >
      It signs what the webhook steps of all flows of this environment post. The secret before it ends at that
      moment.
    </Confirm>
  ) : (
    <Secret title="The secret of flows" secret={secret} onClose={onClose} />
  );
}
