/** Methods that dump a chain's state to a value and load one. */
import { z } from 'zod'
import { toHex } from '../../../encoding/hex.ts'
import { method } from '../../method.ts'
import { optional, orNull, type Parameter, refuse } from '../../parameter.ts'
import { DataText, Flag } from '../../wire/scalars.ts'
import { compressed, dumpText, isStateText, loadStateText, textOfState } from '../../wire/state-file.ts'
import { under } from './family.ts'

/** Hex of a compressed or plain state file, or its JSON. */
const State: Parameter<string | object> = {
  schema: () =>
    z
      .union([z.string().refine(isStateText), z.record(z.string(), z.unknown())])
      .describe('hex of the gzip of a state file, or its JSON'),
  read(value, name) {
    if (typeof value === 'string' && isStateText(value)) return value
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return refuse(name, 'hex of the gzip of a state file, or its JSON')
  },
}

export const anvil_dumpState = method({
  name: 'anvil_dumpState',
  aliases: ['hardhat_dumpState'],
  heavy: true,
  summary:
    'The state after the head as a gzipped state file in hex, which Anvil loads as well; with `history` also all blocks, receipts and the pool.',
  params: { history: optional(orNull(Flag, false), false) },
  result: () => DataText,
  errors: ['block-not-found'],
  examples: [{ params: [], result: '0x1f8b0800000000000003', varies: true }],
  run: async ({ history }, { engine }) => toHex(await compressed(dumpText(engine, history))),
})

export const anvil_loadState = method({
  name: 'anvil_loadState',
  aliases: ['hardhat_loadState'],
  changesState: true,
  heavy: true,
  summary:
    'Loads a state file of this node, a dump of Anvil, accounts by address, or a genesis file of geth or the reference node: its accounts replace those of the same address in the state after the head, but no nonce is lowered. A chain that has only its first block restarts at the height, time and base fee that the file names; a file with history replaces the chain. A file of another version or chain, or with a wrong checksum, is refused and changes nothing.',
  params: { state: State },
  result: () => z.literal(true),
  examples: [{ params: [{ accounts: {} }], result: true }],
  async run({ state }, { engine }) {
    await loadStateText(engine, await textOfState(state))
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_STATE_FILE_METHODS = [
  anvil_dumpState,
  anvil_loadState,
  under('evm_dumpState', anvil_dumpState),
  under('evm_loadState', anvil_loadState),
] as const
