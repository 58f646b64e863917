import { useRef, useState } from 'react';
import { useChange } from '../../../api/queries.ts';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { Secret } from '../../webhooks/secret.tsx';

/** Rotates the secret of webhook steps in all flows of the environment, and shows it once. */
export function NewSecret({ onClose }: { readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  // The dialog stays open after the confirmation, because the secret has to be copied.
  const isMade = useRef(false);
  const rotate = useChange('POST /flows/webhook-secret');
  return secret === null ? (
    <Confirm
      title="Rotate webhook secret?"
      action="Rotate secret"
      onClose={() => isMade.current || onClose()}
      onConfirm={async () => {
        const made = await rotate.mutateAsync({});
        isMade.current = true;
        setSecret(made.secret);
      }}
    >
      The secret signs the requests of the webhook steps of all flows in this environment. The previous secret
      becomes invalid at once.
    </Confirm>
  ) : (
    <Secret title="Webhook secret of flows" secret={secret} onClose={onClose} />
  );
}
