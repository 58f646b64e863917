import { type Sealer, sealerOf } from '../crypto/sealer.ts';
import type { Keys } from '../crypto/secret-key.ts';
import { type Signer, signerOf } from '../crypto/signer.ts';
import { bindToKey, isBound, readKeys, WrongSecretKey } from '../db/canary.ts';
import type { Database } from '../db/database.ts';
import { type KeySource, presentSecretKeys, resolveSecretKeys, settleWhenFree } from './secret-key.ts';

/** The ids of the keys that an instance can open texts with, and of the one that it seals with. */
export interface KeysInUse {
  readonly holds: readonly string[];
  readonly sealsWith: string;
}

/**
 * The keys of a service. They are looked at again while it runs, since `posthorn secret-key rotate` changes
 * them: the database says which of them seals, and every instance can open what another one has sealed.
 */
export class ServedKeys {
  readonly sealer: Sealer = sealerOf(() => this.#keys);
  readonly signer: Signer = signerOf(() => this.#keys);

  private constructor(
    private readonly database: Database,
    private readonly source: KeySource,
    private keys: Keys,
  ) {}

  /** @throws WrongSecretKey, NoSecretKey */
  static async open(database: Database, source: KeySource): Promise<ServedKeys> {
    const offered = await resolveSecretKeys(source, () => isBound(database));
    const keys = await bindToKey(database, offered);
    await settle(source, keys);
    return new ServedKeys(database, source, keys);
  }

  get #keys(): Keys {
    return this.keys;
  }

  get inUse(): KeysInUse {
    const { current, others } = this.keys;
    return { holds: [current, ...others].map(({ id }) => id), sealsWith: current.id };
  }

  /**
   * Looks at them again. True when something has changed. @throws WrongSecretKey when the database is used
   * with a key that is not here
   */
  async refresh(): Promise<boolean> {
    const before = this.inUse;
    // The current key remains in use: a removed file stops the next start, and not this service. Earlier keys
    // do not, since the thief of one could make the database return to it.
    const offered = [...(await presentSecretKeys(this.source)), this.keys.current.text];
    const keys = await readKeys(this.database, offered, true);
    if (!keys) throw new WrongSecretKey();
    this.keys = keys;
    await settle(this.source, keys);
    return JSON.stringify(this.inUse) !== JSON.stringify(before);
  }
}

/** Moves the key of a rotation to its place, where a command died before it could. */
const settle = async ({ secretKey, dataDir }: KeySource, { current }: Keys): Promise<void> =>
  secretKey === null ? settleWhenFree(dataDir, current.text) : undefined;
