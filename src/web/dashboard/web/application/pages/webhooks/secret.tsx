import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

/** A secret that signs what is posted, the only time that it is shown. */
export const Secret = (props: {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}) => (
  <Dialog title={props.title} onClose={props.onClose} width="max-w-xl" isShownOnce>
    <p role="status">
      Copy the secret now. It is shown only once. Your program uses it to check that requests come from this
      service;{' '}
      <a href="/docs/webhooks" className="link">
        the guide
      </a>{' '}
      shows how.
    </p>
    <Copyable label="Secret" text={props.secret} />
    <Button look="main" onClick={props.onClose}>
      I have copied it
    </Button>
  </Dialog>
);
