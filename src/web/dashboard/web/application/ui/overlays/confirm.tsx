import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Form } from '../forms/form.tsx';
import { Dialog } from './dialog.tsx';
import { toast } from './toast.tsx';

/**
 * Asks before something that cannot be undone. What can be undone is done at once, with an undo in its toast.
 */
export const Confirm = (props: {
  readonly title: string;
  /** The action, as the button says it: `Revoke key`. */
  readonly action: string;
  readonly keep?: string;
  readonly onConfirm: () => Promise<unknown>;
  /** The text of the toast that reports it. */
  readonly done?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Dialog title={props.title} onClose={props.onClose}>
    <div className="text-dim">{props.children}</div>
    <Form
      action={props.action}
      look="danger"
      aside={<Button onClick={props.onClose}>{props.keep ?? 'Cancel'}</Button>}
      onSend={async () => {
        await props.onConfirm();
        if (props.done !== undefined) toast(props.done);
        props.onClose();
      }}
    >
      {null}
    </Form>
  </Dialog>
);
