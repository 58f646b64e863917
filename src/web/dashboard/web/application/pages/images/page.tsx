import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Asset } from '../../../../../client/operations.ts';
import { useChange, useList } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { count, sizeText } from '../../ui/display/format.ts';
import { Empty } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { pathOf } from './small-size.ts';
import { ACCEPTED, imagesIn, useUpload } from './upload.ts';

/** The images of the workspace, which all messages of both environments can show. */
export default function Images() {
  const { may } = useViewer();
  const mayWrite = may('templates:write');
  const list = useList('GET /assets', { query: { limit: 48 } });
  const { upload, isPending } = useUpload();
  const [shown, setShown] = useState<Asset | null>(null);
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!mayWrite) return;
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const files = imagesIn(clipboardData);
      if (files.length > 0) void upload(files);
    };
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  });
  const choose = mayWrite && (
    <label className="button button-main relative has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent">
      {icons.Plus} {isPending ? 'Uploading…' : 'Upload images'}
      <input
        type="file"
        multiple
        accept={ACCEPTED}
        className="absolute inset-0 cursor-pointer opacity-0"
        onChange={({ target }) => {
          void upload([...(target.files ?? [])]);
          target.value = '';
        }}
      />
    </label>
  );
  const items = list.items ?? [];
  return (
    <Page
      title="Images"
      about="Images for templates and campaigns, the same in both environments. Their public addresses never change."
      actions={items.length > 0 && choose}
    >
      <section
        aria-label="Images"
        onDragOver={(event) => {
          if (!mayWrite) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          if (!mayWrite) return;
          event.preventDefault();
          setOver(false);
          void upload(imagesIn(event.dataTransfer));
        }}
        className={`rounded-xl ${isOver ? 'outline-2 outline-offset-4 outline-accent' : ''}`}
      >
        {list.items?.length === 0 && (
          <div className="card">
            <Empty title="No images yet" icon={icons.Picture} action={choose}>
              <p>
                {mayWrite
                  ? 'Upload images, drop them here, or paste them. Templates and campaigns then show them by their addresses.'
                  : 'Your role is read-only.'}
              </p>
            </Empty>
          </div>
        )}
        <ul className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-4 xl:grid-cols-6">
          {items.map((image) => (
            <li key={image.id}>
              <button
                type="button"
                className="card grid w-full gap-2 p-2 text-left hover:bg-hover"
                onClick={() => setShown(image)}
              >
                <img
                  src={pathOf(image)}
                  alt=""
                  loading="lazy"
                  className="aspect-4/3 w-full rounded-md bg-white object-contain"
                />
                <span className="grid">
                  <span className="truncate font-medium">{image.filename}</span>
                  <span className="truncate text-caption text-dim">
                    {count(image.width)} × {count(image.height)}, {sizeText(image.size)}
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      {list.hasNextPage && (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
      {shown && <Details image={shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

const PATHS = { template: 'templates', campaign: 'campaigns' } as const;

function Details({ image, onClose }: { readonly image: Asset; readonly onClose: () => void }) {
  const { may } = useViewer();
  const [isDeleting, setDeleting] = useState(false);
  const remove = useChange('DELETE /assets/{id}');
  const { id, filename, usedBy, lastShownOn } = image;
  const isUsed = usedBy.length > 0;
  if (isDeleting)
    return (
      <Confirm
        title="Delete image"
        action="Delete image"
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await remove.mutateAsync({ path: { id }, query: { force: isUsed } });
          toast('Image deleted');
          onClose();
        }}
      >
        <p>
          {isUsed
            ? `${filename} is still used. Messages that show it, also those that people have already received, show a gap in its place.`
            : `No template and no campaign shows ${filename}. Mail that was accepted with it shows it for 90 more days at least.`}
        </p>
      </Confirm>
    );
  return (
    <Dialog title={filename} onClose={onClose} width="max-w-2xl">
      <img
        src={pathOf(image)}
        alt=""
        className="max-h-80 w-full rounded-lg border border-edge bg-white object-contain"
      />
      <Copyable label="Address" text={image.url} />
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1">
        <dt className="text-dim">Size</dt>
        <dd>
          {count(image.width)} × {count(image.height)} pixels, {sizeText(image.size)}
        </dd>
        <dt className="text-dim">Used by</dt>
        <dd>
          {usedBy.length === 0
            ? 'No template or campaign'
            : usedBy.map((user, index) => (
                <span key={user.id}>
                  {index > 0 && ', '}
                  <Link href={`/${PATHS[user.type]}/${user.id}`} className="link">
                    {user.name}
                  </Link>
                </span>
              ))}
        </dd>
        <dt className="text-dim">Last read</dt>
        <dd>{lastShownOn ?? 'Never'}</dd>
        <dt className="text-dim">Uploaded</dt>
        <dd>
          <Time at={image.createdAt} />
        </dd>
      </dl>
      {may('templates:write') && (
        <div>
          <Button look="danger" onClick={() => setDeleting(true)}>
            Delete image
          </Button>
        </div>
      )}
    </Dialog>
  );
}
