import { expect } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import type { RealService } from './real-service.ts';

/** The requests of import tests to a service, by one key unless they name another. */
export const importClient = (service: RealService, key: string) => {
  const get = (path: string, by = key) => service.ask({ path, key: by });
  const post = (body: string | Uint8Array, query = '', headers: Record<string, string> = {}, by = key) =>
    service.ask({
      method: 'POST',
      path: `/v1/contacts/import${query}`,
      key: by,
      body,
      headers: { 'content-type': 'text/csv', ...headers },
    });
  const ended = (id: string, by = key) =>
    eventually(`the end of ${id}`, async () => {
      const { body } = await get(`/v1/contacts/imports/${id}`, by);
      return ['queued', 'processing'].includes(body.data.status) ? undefined : body.data;
    });
  return {
    get,
    post,
    ended,
    /** Imports a file and says what became of it. */
    async imported(body: string | Uint8Array, query = '', by = key) {
      const told = await post(body, query, {}, by);
      const details = told.body.error?.details;
      expect({ status: told.status, details }).toEqual({ status: 202, details: undefined });
      const { id, status } = told.body.data;
      expect({ id, status }).toEqual({ id: expect.stringMatching(/^imp_/), status: 'queued' });
      return ended(id, by);
    },
    contact: async (email: string, by = key) => (await get(`/v1/contacts/${email}`, by)).body.data,
  };
};

/** The type of it. */
export type ImportClient = ReturnType<typeof importClient>;
