import { Field } from '../../../ui/forms/form.tsx';

/** The time zone of a step or of quiet hours. */
export const TimeZoneField = (props: { readonly name: string; readonly zone: string | null | undefined }) => (
  <Field
    label="Time zone"
    name={props.name}
    defaultValue={props.zone ?? ''}
    placeholder="Europe/Berlin"
    hint="Empty: the contact's time zone, or else the workspace's."
  />
);
