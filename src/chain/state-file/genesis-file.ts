/** Genesis files as options of a local chain. */
import { z } from 'zod'
import { toBigInt } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { GenesisAlloc } from '../genesis.ts'
import { quantity, readAccounts } from './read.ts'
import type { PartialAccount } from './records.ts'

/** What a genesis file sets; absent members stay those of the network. */
export interface GenesisSettings {
  readonly chainId?: number
  readonly alloc?: GenesisAlloc
  /** Of block 0, Unix seconds. */
  readonly genesisTime?: number
  readonly blockGasLimit?: bigint
  /** A file of the reference node, which takes the place of the network's own. */
  readonly genesis?: unknown
}

const small = quantity
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER), 'must fit in 53 bits')
  .transform(Number)

const gethFile = z.object({
  config: z.object({ chainId: small.optional() }).optional(),
  alloc: z.unknown(),
  timestamp: small.optional(),
  gasLimit: quantity.optional(),
})

/** A key that files of the reference node have, and geth's lack. */
const REFERENCE_KEY = 'bitcoinMergedMiningHeader'

function allocOf(accounts: ReadonlyMap<Hex, PartialAccount>): GenesisAlloc {
  return new Map(
    [...accounts].map(([address, { cells, isContract: _, ...rest }]) => [
      address,
      {
        ...rest,
        ...(cells && { storage: new Map([...cells].map(([slot, bytes]) => [slot, toBigInt(bytes)])) }),
      },
    ]),
  )
}

/** Reads the text of a genesis file. Throws `invalid-params` when it is malformed. */
export function readGenesisSettings(text: string): GenesisSettings {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalidParams('The genesis file is not JSON.')
  }
  const outcome = gethFile.safeParse(json)
  if (!outcome.success || typeof json !== 'object' || json === null || !('alloc' in json)) {
    const [issue] = outcome.error?.issues ?? []
    const why =
      issue === undefined || issue.path.length === 0
        ? 'it has no "alloc"'
        : `${issue.path.join('.')}: ${issue.message}`
    throw invalidParams(`The genesis file is malformed: ${why}.`)
  }
  if (REFERENCE_KEY in json) return { genesis: json }
  const { config, alloc, timestamp, gasLimit } = outcome.data
  return {
    ...(config?.chainId !== undefined && { chainId: config.chainId }),
    alloc: allocOf(readAccounts(alloc, 'alloc')),
    ...(timestamp !== undefined && { genesisTime: timestamp }),
    ...(gasLimit !== undefined && { blockGasLimit: gasLimit }),
  }
}
