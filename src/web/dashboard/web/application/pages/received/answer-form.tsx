import { useState } from 'react';
import type { ReceivedDetail } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { Field, Form, TextArea } from '../../ui/forms/form.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** The address that took a message, without its tag. */
const addressOf = ({ envelope: { to, tag } }: ReceivedDetail): string =>
  tag === null ? to : to.replace(`+${tag}@`, '@');

/** Answers a message: from the sender of the email that it answers, or else from the address that took it. */
export function AnswerForm({ message }: { readonly message: ReceivedDetail }) {
  const emailId = message.inReplyToEmail?.emailId ?? '';
  const answered = useRead('GET /emails/{id}', { path: { id: emailId } }, { enabled: emailId !== '' });
  const reply = useChange('POST /received/{id}/reply', ['emails']);
  const [count, setCount] = useState(0);
  if (answered.isLoading) return null;
  const from = answered.data?.from ?? (message.routeId === null ? '' : addressOf(message));
  const recipients = message.replyTo.length > 0 ? message.replyTo : message.from ? [message.from] : [];
  return (
    <Form
      // A sent answer leaves an empty form.
      key={count}
      action="Send answer"
      onSend={async ({ from: sender = '', text = '' }) => {
        await reply.mutateAsync({
          path: { id: message.id },
          body: { text, replyTo: 'auto', ...(sender.trim() !== '' && { from: sender.trim() }) },
        });
        toast('Answer sent');
        setCount((before) => before + 1);
      }}
    >
      <p>To: {recipients.join(', ')}</p>
      <TextArea label="Answer" name="text" rows={5} />
      <Field
        label="From"
        name="from"
        defaultValue={from}
        hint="An address at a verified domain. Replies come back to this conversation."
      />
    </Form>
  );
}
