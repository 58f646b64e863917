import type { Campaign, CampaignLink } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { icons } from '../../ui/icons.tsx';
import { countColumn } from '../../ui/lists/column-kinds.tsx';
import type { Column } from '../../ui/lists/list-types.ts';
import { Lead, Table } from '../../ui/lists/table.tsx';
import { useTrackedDomains } from '../names.ts';
import { isCounted, trackingOfCampaign } from '../tracking.ts';

const COLUMNS: readonly [Column<CampaignLink>, ...Column<CampaignLink>[]] = [
  { name: 'Link', cell: ({ url }) => <Lead title={url ?? 'Links not in the content'} /> },
  countColumn('Contacts', ({ uniqueClicks }) => uniqueClicks),
  countColumn('Clicks', ({ clicks }) => clicks, { from: 'sm' }),
];

/** The links of a campaign as they were written, and who followed them. */
export function Links({ campaign, campaign: { id } }: { readonly campaign: Campaign }) {
  const tracking = trackingOfCampaign(campaign, useTrackedDomains());
  const { data, error, refetch } = useRead(
    'GET /campaigns/{id}/links',
    { path: { id } },
    { follows: ['emails'], every: 5_000 },
  );
  return (
    <Table
      label="Links"
      list={{ items: data, error, refetch }}
      columns={COLUMNS}
      keyOf={({ url }) => url ?? ''}
      empty={
        isCounted(tracking, 'clicked', 0) ? (
          <Empty title="No clicks yet" icon={icons.Chart}>
            <p>Clicks are counted per original URL.</p>
          </Empty>
        ) : (
          <Empty
            title="Clicks are not counted"
            icon={icons.Chart}
            action={<ButtonLink to="/domains">Open domains</ButtonLink>}
          >
            <p>Click tracking was off for this campaign. Turn it on for the domain before the next one.</p>
          </Empty>
        )
      }
    />
  );
}
