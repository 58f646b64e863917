import { useState } from 'react';
import type { Asset, Template } from '../../../../../client/operations.ts';
import { useIsShown, useList } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { FileField } from '../../ui/forms/file-field.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import type { Picture } from '../visual/source/new-blocks.ts';
import { pathOf, WIDEST } from './small-size.ts';
import { ACCEPTED, useUpload } from './upload.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const sizesOf = ({ srcset }: Picture): string => (srcset === null ? '' : ` srcset="${srcset}"`);

/** The markup that shows an image, in each format of templates. */
const MARKUP: Readonly<Record<Template['format'], (image: Picture, alt: string) => string>> = {
  html: (picture, alt) =>
    `<img src="${picture.url}"${sizesOf(picture)} alt="${escaped(alt)}" width="${Math.min(picture.width, WIDEST)}" style="max-width: 100%; height: auto">`,
  emailmd: ({ url }, alt) => `![${alt.replace(/[[\]\\\n]/g, ' ')}](${url})`,
  mjml: (picture, alt) =>
    `<mj-image src="${picture.url}"${sizesOf(picture)} alt="${escaped(alt)}" width="${Math.min(picture.width, WIDEST)}px" />`,
};

/** Chooses or uploads an image and asks for its alternative text. `onPick` gets the markup that shows it. */
export default function PickImage(props: {
  readonly format: Template['format'];
  readonly onPick: (markup: string, image: Picture & { readonly alt: string }) => void;
  readonly onClose: () => void;
}) {
  const [chosen, setChosen] = useState<Asset | null>(null);
  const { upload, withSizes, isPending } = useUpload(setChosen);
  const list = useList('GET /assets', { query: { limit: 24 } });
  // The small size may be ready only when the dialog was left, and another editor is there.
  const isOpen = useIsShown();
  if (chosen)
    return (
      <Dialog key="text" title="Insert image" onClose={props.onClose}>
        <img
          src={pathOf(chosen)}
          alt=""
          className="max-h-60 w-full rounded-lg border border-edge bg-white object-contain"
        />
        <Form
          action="Insert"
          aside={<Button onClick={() => setChosen(null)}>Choose another</Button>}
          onSend={async ({ alt = '' }) => {
            // Markdown has no way to name two sizes.
            const picture =
              props.format === 'emailmd' ? { ...chosen, srcset: null } : await withSizes(chosen);
            if (!isOpen.current) return;
            props.onPick(MARKUP[props.format](picture, alt.trim()), { ...picture, alt: alt.trim() });
            props.onClose();
          }}
        >
          <Field
            label="Alternative text"
            name="alt"
            hint="Describes the image where it is not shown, and for people who cannot see it. Leave it empty for decoration."
          />
        </Form>
      </Dialog>
    );
  return (
    <Dialog key="list" title="Insert image" onClose={props.onClose} width="max-w-2xl">
      <FileField
        label={isPending ? 'Uploading…' : 'Upload an image'}
        hint="Choose or drop a PNG, JPEG, GIF or WebP of at most 5 MiB."
        accept={ACCEPTED}
        file={null}
        onFile={(file) => void upload([file])}
      />
      {(list.items?.length ?? 0) > 0 && (
        <ul className="grid max-h-96 grid-cols-2 gap-3 overflow-y-auto sm:grid-cols-4" aria-label="Images">
          {list.items?.map((image) => (
            <li key={image.id}>
              <button
                type="button"
                className="grid w-full gap-1 rounded-lg p-1 text-left hover:bg-hover"
                onClick={() => setChosen(image)}
              >
                <img
                  src={pathOf(image)}
                  alt=""
                  loading="lazy"
                  className="aspect-4/3 w-full rounded-md border border-edge bg-white object-contain"
                />
                <span className="truncate text-caption">{image.filename}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button look="quiet" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </Dialog>
  );
}
