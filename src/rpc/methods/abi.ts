/** The method that registers the ABIs of contracts with a running node. */
import { z } from 'zod'
import { readArtifact } from '../../abi/artifact.ts'
import { loadAbiCodec } from '../../abi/codec.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { anyOf, anyText, hex, schemaForm } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'

/** Longest name of a contract, characters. */
const MAX_NAME = 256

/** The contract at an address, or every contract of this name. */
const Contract: Parameter<{ readonly address: Hex } | { readonly name: string }> = scalar({
  form: anyOf(
    hex({ prefix: 'required', least: 40, most: 40 }),
    anyText({ least: 1, most: MAX_NAME, where: (value) => !value.startsWith('0x') }),
  ),
  description: 'ADDRESS, or the name of a contract',
  decode: (value) => (value.startsWith('0x') ? { address: value.toLowerCase() as Hex } : { name: value }),
  refusal: (value, name) =>
    typeof value === 'string' && value.length <= MAX_NAME && value.startsWith('0x')
      ? expected(name, 'an address of 20 bytes')
      : expected(name, 'an address, or the name of a contract'),
})

/** Most entries of an ABI: each is hashed. No compiler's comes near it. */
const MOST_ENTRIES = 5000

const Entry = z.union([z.string(), z.looseObject({ type: z.string().optional() })])
const Entries = z.array(Entry).max(MOST_ENTRIES)

/** What the entries hold is validated when they are registered. */
const Abi: Parameter<readonly unknown[] | object> = scalar({
  form: schemaForm(z.union([Entries, z.looseObject({ abi: Entries })])),
  description: 'entries of an ABI, human-readable signatures, or the artifact of a compiler',
  decode: (value) => value,
  refusal(value, name) {
    if (typeof value !== 'object' || value === null)
      return expected(name, 'a list of entries, or an artifact')
    const entries = 'abi' in value ? value.abi : value
    if (!Array.isArray(entries)) return `Invalid ${name}: an ABI is a list of entries.`
    if (entries.length > MOST_ENTRIES) return expected(name, `at most ${MOST_ENTRIES} entries`)
    const at = entries.findIndex((entry) => !Entry.safeParse(entry).success)
    return `Invalid ${name}: entry ${at} is neither a signature nor an object with a type.`
  },
})

export const evm_setAbi = method({
  name: 'evm_setAbi',
  changesState: true,
  summary:
    'Registers the ABI of a contract, for reasons of failures, call trees and the terminal; beyond 4096 contracts, or 8 MiB of names, the oldest registrations are dropped.',
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
