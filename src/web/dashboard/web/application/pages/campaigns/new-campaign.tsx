import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { START } from './campaign-values.ts';

/** Creates a draft and opens it. */
export function NewCampaign(props: {
  readonly audiences: Readonly<Record<string, string>>;
  readonly onClose: () => void;
}) {
  const create = useChange('POST /campaigns');
  const [, navigate] = useLocation();
  return (
    <Dialog title="New campaign" onClose={props.onClose}>
      <Form
        action="Create campaign"
        aside={<Button onClick={props.onClose}>Cancel</Button>}
        onSend={async ({ name = '', audienceId = '' }) => {
          const body = { name, audienceId, subject: name, markdown: START };
          const { id } = await create.mutateAsync({ body });
          navigate(`/campaigns/${id}`);
        }}
      >
        <Field
          label="Name"
          name="name"
          hint="Recipients never see it. It becomes the first subject."
          autoFocus
        />
        <Choice label="Audience" name="audienceId" options={props.audiences} />
      </Form>
    </Dialog>
  );
}
