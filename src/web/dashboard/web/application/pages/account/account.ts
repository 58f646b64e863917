import { useQuery, useQueryClient } from '@tanstack/react-query';
import { request } from '../../api/requests.ts';

/** Lists of the person, rather than of a workspace, are under `/app/api/account`. */
export const useAccountList = <Item>(name: 'passkeys' | 'sessions') =>
  useQuery({
    queryKey: ['account', name],
    queryFn: async ({ signal }) =>
      (await request<readonly Item[]>('GET', `account/${name}`, { signal })).data,
  });

/** Changes something of the account; what `list` names is read again afterwards. */
export function useAccountChange(list: 'passkeys' | 'sessions' | 'language') {
  const client = useQueryClient();
  return async <Data = null>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object = {},
  ): Promise<Data> => {
    const { data } = await request<Data>(method, path === '' ? 'account' : `account/${path}`, { body });
    await client.invalidateQueries({ queryKey: ['account', list] });
    return data;
  };
}
