/** The methods that return names: of contracts by their address, and of calls, errors and events by their bytes. */

import { z } from 'zod'
import { type AbiCodec, loadAbiCodec } from '../../abi/codec.ts'
import { CONSOLE_ADDRESS, consoleText } from '../../abi/console.ts'
import { panicMessage } from '../../abi/panic.ts'
import type { AbiRegistry } from '../../abi/registry.ts'
import { standardEvent } from '../../abi/standard-events.ts'
import { PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { revertReason } from '../../evm/failure-message.ts'
import { literals } from '../json-forms.ts'
import { type Context, method } from '../method.ts'
import { arrayOf, expected, object, optional, scalar } from '../parameter.ts'
import { StateBlock } from '../wire/block-reference.ts'
import { DecodedObject, type RpcDecoded, toRpcDecoded } from '../wire/decoded.ts'
import { Address, Data, HashText, Topic } from '../wire/scalars.ts'
import { NOBODY } from './example-accounts.ts'

/** Maximum number of addresses, or of items to decode, per call. */
const MOST = 1000
const PRECOMPILE_NAMES: ReadonlyMap<Hex, string> = new Map(
  Object.entries(PRECOMPILE_ADDRESS).map(([name, address]) => [address, name]),
)

/** The name of the contract at an address: a precompiled contract, or one whose ABI or code is known. */
function nameAt(
  address: Hex,
  names: AbiRegistry,
  codeOf: (address: Hex) => Uint8Array | undefined,
): string | null {
  const precompile = PRECOMPILE_NAMES.get(address)
  if (precompile !== undefined) return precompile
  return names.contractName(address, names.isEmpty ? undefined : codeOf(address)) ?? null
}

export const evm_contractNames = method({
  name: 'evm_contractNames',
  summary:
    'Names of the contracts at addresses: registered by evm_setAbi, found among the artifacts by their code, or of precompiled contracts; null for an unknown contract.',
  params: {
    addresses: arrayOf(Address, { most: MOST, indexed: true }),
    block: optional(StateBlock, 'latest'),
  },
  result: () => z.array(z.string().nullable()),
  examples: [{ params: [['0x0000000000000000000000000000000001000008', NOBODY]], result: ['remasc', null] }],
  async run({ addresses, block }, { engine }: Context) {
    const state = await engine.queries.state(block.reference)
    return addresses.map((address) =>
      nameAt(address, engine.names, (at) => {
        const account = state?.account(at)
        return account && state?.code(account.codeHash)
      }),
    )
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
    const log = address && { address, topics, data }
    const event = log && (names.event(log) ?? standardEvent(log, codec))
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
    return items.map((item) => decodedItem(item, engine.names, codec))
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
