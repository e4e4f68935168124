/** The methods that register ABIs of contracts on a running node, and list the registered ones. */
import { z } from 'zod'
import { type Artifact, readArtifact } from '../../abi/artifact.ts'
import { loadAbiCodec } from '../../abi/codec.ts'
import { type AbiEntry, type AbiParameter, signatureOf, topicOf } from '../../abi/entry.ts'
import { type Hex, lowerCaseHex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { abisBehind } from '../contract-abis.ts'
import { anyOf, anyText, hex, schemaForm } from '../json-forms.ts'
import { method } from '../method.ts'
import { expected, optional, type Parameter, scalar } from '../parameter.ts'
import { StateBlock } from '../wire/block-reference.ts'
import { AddressText, DataText } from '../wire/scalars.ts'

/** Maximum length of a contract's name, in characters. */
const MAX_NAME = 256

/** The contract at an address, or every contract of this name. */
const Contract: Parameter<{ readonly address: Hex } | { readonly name: string }> = scalar({
  form: anyOf(
    hex({ prefix: 'required', least: 40, most: 40 }),
    anyText({ least: 1, most: MAX_NAME, where: (value) => !value.startsWith('0x') }),
  ),
  description: 'ADDRESS, or the name of a contract',
  decode: (value) => (value.startsWith('0x') ? { address: lowerCaseHex(value) } : { name: value }),
  refusal: (value, name) =>
    typeof value === 'string' && value.length <= MAX_NAME && value.startsWith('0x')
      ? expected(name, 'an address of 20 bytes')
      : expected(name, 'an address, or the name of a contract'),
})

/** Maximum number of entries in an ABI: each is hashed. Compilers write far fewer. */
const MOST_ENTRIES = 5000

const Entry = z.lazy(() => z.union([z.string(), z.looseObject({ type: z.string().optional() })]))
const Entries = z.lazy(() => z.array(Entry).max(MOST_ENTRIES))

/** The entries themselves are validated when they are registered. */
const Abi: Parameter<readonly unknown[] | object> = scalar({
  form: schemaForm(() => z.union([Entries, z.looseObject({ abi: Entries })])),
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
    'Registers the ABI of a contract, to decode its calls and errors in failure reasons, call trees and on the terminal; the storageLayout of an artifact serves to read and write its variables by name. Beyond 4096 contracts, or 8 MiB of names, the oldest registrations are dropped.',
  params: { contract: Contract, abi: Abi },
  result: () => z.literal(true),
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

/** Maximum number of contracts in an answer. */
const MOST_CONTRACTS = 10_000

const KnownContract = z.lazy(() =>
  z.strictObject({
    name: z.string().nullable(),
    address: AddressText.nullable(),
    functions: z.int(),
    events: z.int(),
    errors: z.int(),
  }),
)

const nameOrNull = ({ name }: Artifact): string | null => (name === '' ? null : name)

export const evm_contracts = method({
  name: 'evm_contracts',
  summary:
    'The contracts whose ABI the node knows, 10,000 at most: first those registered by evm_setAbi, latest first and with their address if they have one, then those from artifacts.',
  params: {},
  result: () => z.array(KnownContract),
  examples: [{ params: [], result: [] }],
  run(_, { engine }) {
    const contracts: z.infer<typeof KnownContract>[] = []
    for (const { artifact, address = null } of engine.names.contracts()) {
      if (contracts.length === MOST_CONTRACTS) break
      const count = (kind: AbiEntry['kind']) => artifact.entries.filter((entry) => entry.kind === kind).length
      contracts.push({
        name: nameOrNull(artifact),
        address,
        functions: count('function'),
        events: count('event'),
        errors: count('error'),
      })
    }
    return contracts
  },
})

interface RpcParameter {
  readonly name: string
  readonly type: string
  readonly indexed?: boolean | undefined
  readonly components?: readonly RpcParameter[] | undefined
}

const ParameterObject: z.ZodType<RpcParameter> = z
  .strictObject({
    name: z.string(),
    type: z.string(),
    indexed: z.boolean().optional(),
    components: z.array(z.lazy(() => ParameterObject)).optional(),
  })
  .meta({ id: 'AbiParameter', description: 'A parameter in an ABI; a tuple has its members' })

const EntryObject = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(['function', 'event', 'error', 'constructor']),
      name: z.string().optional(),
      inputs: z.array(ParameterObject),
      outputs: z.array(ParameterObject).optional(),
      stateMutability: z.enum(['pure', 'view', 'nonpayable', 'payable']).optional(),
      anonymous: z.boolean().optional(),
      signature: z.string().optional(),
      selector: DataText.optional(),
    })
    .meta({
      id: 'AbiEntry',
      description:
        'An entry of an ABI as compilers write it, with its signature, and its selector: 4 bytes, or the topic of an event',
    }),
)

function toRpcParameter(isEvent: boolean): (parameter: AbiParameter) => RpcParameter {
  return ({ name, type, components, indexed }) => ({
    name,
    type,
    ...(isEvent && { indexed }),
    ...(components.length > 0 && { components: components.map(toRpcParameter(false)) }),
  })
}

function toRpcEntry(entry: AbiEntry): z.infer<typeof EntryObject> {
  const { kind, name, inputs, outputs, anonymous, mutability } = entry
  const common = { type: kind, inputs: inputs.map(toRpcParameter(kind === 'event')) }
  const state = mutability !== undefined && { stateMutability: mutability }
  if (kind === 'constructor') return { ...common, ...state }
  const topic = topicOf(entry)
  return {
    ...common,
    name,
    ...(kind === 'function' && { outputs: outputs.map(toRpcParameter(false)) }),
    ...state,
    ...(kind === 'event' && { anonymous }),
    signature: signatureOf(entry),
    selector: kind === 'event' ? topic : `0x${topic.slice(2, 10)}`,
  }
}

/** The names of contracts that stand behind each other as one ABI; entries of the first come first. */
function merged(artifacts: readonly Artifact[]): { name: string | null; abi: z.infer<typeof EntryObject>[] } {
  const names = artifacts.map(({ name }) => name).filter((name) => name !== '')
  const entries = new Map<string, z.infer<typeof EntryObject>>()
  for (const [i, artifact] of artifacts.entries()) {
    for (const entry of artifact.entries) {
      // The constructors of the contracts behind are not those of this one.
      if (entry.kind === 'constructor' && i > 0) continue
      const key = `${entry.kind} ${signatureOf(entry)}`
      if (!entries.has(key)) entries.set(key, toRpcEntry(entry))
    }
  }
  return { name: names[0] ?? null, abi: [...entries.values()] }
}

export const evm_contractAbi = method({
  name: 'evm_contractAbi',
  summary:
    'The ABI of a contract by address or name: registered by evm_setAbi, found among the artifacts by the code at the address, or that of its sources. That of a proxy or diamond has the entries of the contracts behind it as well. Null when none is known.',
  params: { contract: Contract, block: optional(StateBlock, 'latest') },
  result: () => z.strictObject({ name: z.string().nullable(), abi: z.array(EntryObject) }).nullable(),
  errors: ['block-not-found'],
  examples: [{ params: ['0x00000000000000000000000000000000000dead1'], result: null }],
  async run({ contract, block }, { engine }) {
    const { names } = engine
    if ('address' in contract) {
      const found = await abisBehind(engine, contract.address, block.reference)
      return found.length === 0 ? null : merged(found)
    }
    for (const { artifact } of names.contracts())
      if (artifact.name === contract.name) return merged([artifact])
    return null
  },
})

/** The methods of this file, in the order of the document. */
export const NAME_METHODS = [evm_setAbi, evm_contracts, evm_contractAbi] as const
