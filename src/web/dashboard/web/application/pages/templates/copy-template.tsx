import { useState } from 'react';
import type { Template } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ENVIRONMENTS } from '../../shell/environments.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** What a template says, in the way that a request says it. */
const contentOf = ({ format, subject, previewText, html, markdown, text, ...rest }: Template) => ({
  ...{ format, subject, previewText, html, markdown, text },
  ...{ from: rest.from, replyTo: rest.replyTo, variables: rest.variables },
});

/**
 * Copies a template into the other environment. Where its alias is known there, programs send that one: it takes over the content as
 * a new version, once somebody has agreed to that.
 */
export function CopyTemplate({
  template,
  isChanged,
  onClose,
}: {
  readonly template: Template;
  readonly isChanged: boolean;
  readonly onClose: () => void;
}) {
  const other = useViewer().environment === 'live' ? 'test' : 'live';
  const there = `the ${ENVIRONMENTS[other].name.toLowerCase()} environment`;
  const [isKnown, setIsKnown] = useState(false);
  const create = useChange('POST /templates', [], other);
  const change = useChange('PATCH /templates/{id}', [], other);
  const { name, alias } = template;
  const replace = isKnown && alias !== null;
  const copy = async () => {
    if (replace) {
      await change.mutateAsync({ path: { id: alias }, body: contentOf(template) });
      return true;
    }
    try {
      await create.mutateAsync({ body: { name, alias, ...contentOf(template) } });
      return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409 || alias === null) throw error;
      setIsKnown(true);
      return false;
    }
  };
  return (
    <Dialog title={`Copy “${name}” to ${there}`} onClose={onClose}>
      <p className="text-dim" role="status">
        {replace
          ? `There is a template “${alias}” already. It says the same as this one from now on, and keeps what it said as an earlier version.`
          : 'What is copied is the version that is sent now. The two have nothing to do with one another afterwards.'}
        {isChanged && ' What you have not saved stays here.'}
      </p>
      <Form
        action={replace ? 'Replace what it says' : 'Copy'}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async () => {
          if (!(await copy())) return;
          toast(`“${name}” is in ${there} now.`);
          onClose();
        }}
      >
        {null}
      </Form>
    </Dialog>
  );
}
