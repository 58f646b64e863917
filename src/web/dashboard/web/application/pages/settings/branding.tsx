import { colourOr, inkOn, USUAL_COLOUR } from '../../../../../../mail/message/ink.ts';
import { FONT_TITLES, FONTS, type FontName } from '../../../../../../platform/text/fonts.ts';
import type { Workspace } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form, TextArea } from '../../ui/forms/form.tsx';
import { orNull } from '../../ui/forms/or-null.ts';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';

/** The workspace's brand for recipients: logo, colour, postal address and website. */
export function Branding({ workspace }: { readonly workspace: Workspace }) {
  const { may } = useViewer();
  return (
    <>
      <Logo url={workspace.branding.logoUrl} />
      <Card
        title="Brand"
        about="Used in templates and on the pages that recipients see: unsubscribe, preferences and confirmation."
      >
        {may('workspace:write') ? (
          <div className="max-w-xl">
            <EditBrand workspace={workspace} />
          </div>
        ) : (
          <p className="text-dim">Your role is read-only.</p>
        )}
      </Card>
    </>
  );
}

const LABELS = {
  'branding/colour': 'Colour',
  'branding/fontFamily': 'Font',
  'branding/website': 'Website',
  'branding/address': 'Postal address',
} as const;

function EditBrand({ workspace }: { readonly workspace: Workspace }) {
  const update = useChange('PATCH /workspace');
  const { refetch } = useRead('GET /workspace', {});
  const editing = useEditing<Workspace, Readonly<Record<keyof typeof LABELS, string>>>({
    place: 'workspace/brand',
    current: workspace,
    labels: LABELS,
    read: ({ branding: { colour, fontFamily, website, address } }) => ({
      'branding/colour': colour ?? '',
      'branding/fontFamily': fontFamily ?? '',
      'branding/website': website ?? '',
      'branding/address': address ?? '',
    }),
    write: (changed, ifUpdatedAt) => {
      const branding = Object.entries(changed).map(([name, text]) => [
        name.replace('branding/', ''),
        orNull(text),
      ]);
      return update.mutateAsync({ body: { branding: Object.fromEntries(branding), ifUpdatedAt } });
    },
    reread: async () => (await refetch({ throwOnError: true })).data ?? workspace,
  });
  const colour = useValue(editing, 'branding/colour');
  const font = useValue(editing, 'branding/fontFamily') as FontName | '';
  const shown = colourOr(colour, USUAL_COLOUR);
  return (
    <Form action="Save" editing={editing} onSaved={() => toast('Brand saved')}>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <Field
            label="Colour"
            name="branding/colour"
            placeholder="#0f766e"
            hint="Colour of buttons and links, such as #0f766e."
          />
        </div>
        <input
          type="color"
          aria-label="Choose the colour"
          value={shown.toLowerCase()}
          onChange={({ target }) => editing.set({ 'branding/colour': target.value })}
          className="mt-7 h-10 w-14 cursor-pointer rounded-lg border border-edge-strong bg-sheet p-1"
        />
      </div>
      <Choice
        label="Font"
        name="branding/fontFamily"
        options={{ '': 'No font chosen', ...FONT_TITLES }}
        hint="New templates begin with it. Every computer and phone has it or one like it, so no font is loaded."
      />
      <p
        aria-hidden="true"
        style={{ fontFamily: FONTS[font || 'system'] }}
        className="-mt-1 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-edge bg-white px-4 py-3 text-[16px] text-[#18181b]"
      >
        This is how your text looks.
        <span
          style={{ backgroundColor: shown, color: inkOn(shown) }}
          className="rounded-md px-4 py-2 font-semibold"
        >
          Button
        </span>
      </p>
      <Field label="Website" name="branding/website" type="url" placeholder="https://acme.example" />
      <TextArea
        label="Postal address"
        name="branding/address"
        rows={3}
        hint="Many countries require it in marketing email."
      />
    </Form>
  );
}

function Logo({ url }: { readonly url: string | null }) {
  const { may } = useViewer();
  const put = useChange('PUT /workspace/logo');
  const remove = useChange('DELETE /workspace/logo');
  return (
    <Card title="Logo" about="PNG or JPEG, at most 1 MiB and 4,096 pixels per side.">
      <div className="flex flex-wrap items-center gap-4">
        <div className="grid h-20 w-40 place-items-center overflow-hidden rounded-lg border border-edge bg-white p-2">
          {url === null ? (
            <span className="text-caption text-[#525c6e]">no logo</span>
          ) : (
            <img
              src={new URL(url, location.origin).pathname}
              alt="Logo of the workspace"
              className="max-h-full max-w-full"
            />
          )}
        </div>
        {may('workspace:write') && (
          <>
            <label className="button relative has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
              {url === null ? 'Choose image' : 'Choose another image'}
              <input
                type="file"
                accept="image/png,image/jpeg"
                className="absolute inset-0 cursor-pointer opacity-0"
                onChange={({ target }) => {
                  const [file] = target.files ?? [];
                  if (file) put.mutate({ body: file }, 'Logo saved');
                  target.value = '';
                }}
              />
            </label>
            {url !== null && (
              <Button look="quiet" busy={remove.isPending} onClick={() => remove.mutate({}, 'Logo removed')}>
                Remove logo
              </Button>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
