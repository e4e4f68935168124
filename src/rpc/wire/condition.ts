/** The condition under which a transaction may be sent (EIP-7796). */
import type { Hex } from '../../encoding/hex.ts'
import { either, mapOf, object, type Parameter, refine } from '../parameter.ts'
import { NamedAddress, Word } from './overrides.ts'
import { BlockHash, Quantity } from './scalars.ts'

/** Maximum number of storage roots and slots in one condition. */
const MAX_LOOKUPS = 1000

/** The storage that an account must have: its root, or words by slot. */
export type KnownStorage = Hex | ReadonlyMap<bigint, bigint>

/** What must hold; bounds are inclusive. */
export interface TransactionCondition {
  readonly knownAccounts?: ReadonlyMap<Hex, KnownStorage>
  readonly blockNumberMin?: bigint
  readonly blockNumberMax?: bigint
  /** Unix seconds. */
  readonly timestampMin?: bigint
  readonly timestampMax?: bigint
}

const isText = (value: unknown): boolean => typeof value === 'string'

const KnownAccounts: Parameter<ReadonlyMap<Hex, KnownStorage>> = refine(
  mapOf(
    NamedAddress,
    either(
      isText,
      BlockHash,
      mapOf(Word, Word, (name, slot) => `${name} slot ${slot}`),
    ),
    (name, key) => `${name} key ${key}`,
  ),
  {
    where: (accounts) =>
      [...accounts.values()].reduce((sum, known) => sum + (typeof known === 'string' ? 1 : known.size), 0) <=
      MAX_LOOKUPS,
    what: `at most ${MAX_LOOKUPS} storage roots and slots`,
  },
)

/** The condition object; null members count as absent. */
export const ConditionObject: Parameter<TransactionCondition> = object(
  {
    knownAccounts: KnownAccounts,
    blockNumberMin: Quantity,
    blockNumberMax: Quantity,
    timestampMin: Quantity,
    timestampMax: Quantity,
  },
  { nullIsAbsent: true },
)
