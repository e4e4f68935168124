/** The method that teaches a running node the names of contracts. */
import { z } from 'zod'
import { readArtifact } from '../../abi/artifact.ts'
import { loadAbiCodec } from '../../abi/codec.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { method, type Parameter } from '../method.ts'
import { refuse } from '../wire/scalars.ts'

/** Longest name of a contract, characters. */
const MAX_NAME = 256

/** The contract at an address, or one of this name wherever it stands. */
const Contract: Parameter<{ readonly address: Hex } | { readonly name: string }> = {
  schema: z.string().min(1).max(MAX_NAME).describe('ADDRESS, or the name of a contract'),
  read(value, name) {
    if (typeof value !== 'string' || value === '' || value.length > MAX_NAME) {
      refuse(name, 'an address, or the name of a contract')
    }
    if (/^0x[0-9a-fA-F]{40}$/.test(value)) return { address: value.toLowerCase() as Hex }
    return value.startsWith('0x') ? refuse(name, 'an address of 20 bytes') : { name: value }
  },
}

/** Most entries of an ABI: each is hashed. No compiler's comes near it. */
const MOST_ENTRIES = 5000

/** Checked when it is read for good, by what reads artifacts. */
const Abi: Parameter<readonly unknown[] | object> = {
  schema: z
    .union([z.array(z.union([z.string(), z.looseObject({ type: z.string() })])), z.looseObject({})])
    .describe('entries of an ABI, signatures written for people, or the artifact of a compiler'),
  read(value, name) {
    if (typeof value !== 'object' || value === null) refuse(name, 'a list of entries, or an artifact')
    const entries = 'abi' in value ? value.abi : value
    if (Array.isArray(entries) && entries.length > MOST_ENTRIES)
      refuse(name, `at most ${MOST_ENTRIES} entries`)
    return value
  },
}

export const evm_setAbi = method({
  name: 'evm_setAbi',
  summary:
    'Teaches the node the names of a contract, for reasons of failures, call trees and the terminal; of 4096 contracts, or 8 MiB of names, the ones taught longest ago are forgotten.',
  params: { contract: Contract, abi: Abi },
  result: z.literal(true),
  examples: [
    { params: ['0x00000000000000000000000000000000000dead1', ['error Refused(uint256)']], result: true },
  ],
  async run({ contract, abi }, { engine }) {
    const codec = await loadAbiCodec()
    const [address, name] = 'address' in contract ? [contract.address, ''] : [undefined, contract.name]
    try {
      await engine.names.register(readArtifact(abi, codec, name), address)
    } catch (error) {
      throw invalidParams(`Invalid abi: ${error instanceof Error ? error.message : String(error)}.`)
    }
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const NAME_METHODS = [evm_setAbi] as const
