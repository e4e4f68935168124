/** The methods that return names: of contracts by their address, and of calls, errors and events by their bytes. */

import { z } from 'zod'
import { type AbiCodec, loadAbiCodec } from '../../abi/codec.ts'
import { CONSOLE_ADDRESS, consoleText } from '../../abi/console.ts'
import { panicMessage } from '../../abi/panic.ts'
import type { AbiRegistry } from '../../abi/registry.ts'
import { standardEvent } from '../../abi/standard-events.ts'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { revertReason } from '../../evm/failure-message.ts'
import { abiAt, namesAt } from '../contract-abis.ts'
import { literals } from '../json-forms.ts'
import { method } from '../method.ts'
import { arrayOf, expected, object, optional, scalar } from '../parameter.ts'
import { type BlockArgument, StateBlock } from '../wire/block-reference.ts'
import { DecodedObject, type RpcDecoded, toRpcDecoded } from '../wire/decoded.ts'
import { Address, Data, HashText, Topic } from '../wire/scalars.ts'
import { NOBODY } from './example-accounts.ts'

/** Maximum number of addresses, or of items to decode, per call. */
const MOST = 1000
const PRECOMPILE_NAMES: ReadonlyMap<Hex, string> = new Map(
  Object.entries(PRECOMPILE_ADDRESS).map(([name, address]) => [address, name]),
)

/** The name of the contract at an address: a precompiled contract, or one whose ABI, code or sources are known. */
async function nameAt(address: Hex, engine: Engine, block: BlockArgument): Promise<string | null> {
  const precompile = PRECOMPILE_NAMES.get(address)
  if (precompile !== undefined) return precompile
  const { name = '' } = (await abiAt(engine, address, block.reference)) ?? {}
  return name === '' ? null : name
}

export const evm_contractNames = method({
  name: 'evm_contractNames',
  summary:
    'Names of the contracts at addresses: registered by evm_setAbi, found among the artifacts or sources by their code, or of precompiled contracts; null for an unknown contract.',
  params: {
    addresses: arrayOf(Address, { most: MOST, indexed: true }),
    block: optional(StateBlock, 'latest'),
  },
  result: () => z.array(z.string().nullable()),
  examples: [{ params: [['0x0000000000000000000000000000000001000008', NOBODY]], result: ['remasc', null] }],
  async run({ addresses, block }, { engine }) {
    const names: (string | null)[] = []
    for (const address of addresses) names.push(await nameAt(address, engine, block))
    return names
  },
})

const Item = object(
  {
    kind: scalar({
      form: literals('call', 'creation', 'error', 'event'),
      description:
        'the kind of the data: the input of a call, init code, the payload of a revert, or the data of a log',
      decode: (kind) => kind,
      refusal: (_, name) => expected(name, 'call, creation, error or event'),
    }),
    data: Data,
    address: Address,
    topics: arrayOf(Topic, { most: 4 }),
    output: Data,
  },
  { required: ['kind', 'data'], nullIsAbsent: true },
)
type ItemValue = ReturnType<typeof Item.read>

/** `Error(string)` and `Panic(uint256)` need no ABI. */
function builtInError(payload: Uint8Array): RpcDecoded | undefined {
  const reason = revertReason(payload)
  if (reason !== undefined) {
    return { name: 'Error', arguments: [{ name: 'message', type: 'string', value: reason }], text: reason }
  }
  const text = panicMessage(payload)
  return text === undefined ? undefined : { name: 'Panic', arguments: [], text }
}

function decodedItem(
  { kind, data, address, topics = [], output }: ItemValue,
  names: AbiRegistry,
  codec: AbiCodec,
): RpcDecoded | null {
  if (kind === 'error') {
    const custom = builtInError(data) ?? names.error(data, address)
    return custom === undefined ? null : 'text' in custom ? custom : toRpcDecoded(custom)
  }
  if (kind === 'event') {
    const event = address && names.event({ address, topics, data })
    return event === undefined ? null : toRpcDecoded(event)
  }
  if (kind === 'creation') {
    const creation = names.creation(data)
    return creation === undefined ? null : toRpcDecoded(creation)
  }
  if (address === CONSOLE_ADDRESS) {
    const text = consoleText(data, codec)
    return { name: 'console.log', arguments: [], text }
  }
  const call = names.call(data, address)
  return call === undefined ? null : toRpcDecoded(call, output && names.returned(call, output))
}

/** An item as the first of several registries decodes it. */
function firstDecoded(
  item: ItemValue,
  registries: readonly AbiRegistry[],
  codec: AbiCodec,
): RpcDecoded | null {
  for (const names of registries) {
    const found = decodedItem(item, names, codec)
    if (found !== null) return found
  }
  return null
}

/** A log as an event of a widespread standard. */
function standardItem({ kind, address, topics = [], data }: ItemValue, codec: AbiCodec): RpcDecoded | null {
  const event = kind === 'event' && address && standardEvent({ address, topics, data }, codec)
  return event ? toRpcDecoded(event) : null
}

export const evm_decode = method({
  name: 'evm_decode',
  summary:
    'Decodes call inputs, init code, revert payloads and logs with the ABIs that the node knows, and events of ERC-20, ERC-721, ERC-1155 and other widespread standards without one: names, and arguments as text; null for unknown items. `address` is the contract of a call, error or event, `output` the output of a call.',
  params: { items: arrayOf(Item, { most: MOST, indexed: true }) },
  result: () => z.array(DecodedObject.nullable()),
  examples: [
    {
      params: [
        [
          {
            kind: 'error',
            data: '0x4e487b710000000000000000000000000000000000000000000000000000000000000012',
          },
          { kind: 'call', address: NOBODY, data: '0xa9059cbb' },
        ],
      ],
      result: [{ name: 'Panic', arguments: [], text: 'panic 0x12 (division or modulo by zero)' }, null],
    },
  ],
  async run({ items }, { engine }) {
    const codec = await loadAbiCodec()
    const decoded: (RpcDecoded | null)[] = []
    const behind = new Map<Hex, readonly AbiRegistry[]>()
    for (const item of items) {
      const { address } = item
      let found = decodedItem(item, engine.names, codec)
      if (found === null && address !== undefined && item.kind !== 'creation') {
        const names = behind.get(address) ?? (await namesAt(engine, address))
        behind.set(address, names)
        found = firstDecoded(item, names, codec)
      }
      decoded.push(found ?? standardItem(item, codec))
    }
    return decoded
  },
})

export const evm_consoleOutput = method({
  name: 'evm_consoleOutput',
  summary:
    'The last lines that transactions and simulated calls wrote by console.log, and their failures, the oldest first: 500 entries at most. `transactionHash` is null for a call; `age` is in seconds. A caller with an API key gets those of transactions.',
  params: {},
  result: () =>
    z.array(
      z.strictObject({
        transactionHash: HashText.nullable(),
        console: z.array(z.string()),
        failure: z.string().nullable(),
        age: z.int(),
      }),
    ),
  examples: [{ params: [], result: [] }],
  run: (_, { consoleHistory, session }) =>
    consoleHistory.entries(session).map((entry) => ({ ...entry, console: [...entry.console] })),
})

/** The methods of this file, in the order of the document. */
export const DECODING_METHODS = [evm_contractNames, evm_decode, evm_consoleOutput] as const
