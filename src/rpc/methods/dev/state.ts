/** Methods that edit the state after the head: balance, code, nonce and storage of any account, without a transaction. */
import { z } from 'zod'
import type { AccountEdit } from '../../../engine/dev/state-edits.ts'
import type { Engine } from '../../../engine/engine.ts'
import { anyOf, hex, integer } from '../../json-forms.ts'
import { method } from '../../method.ts'
import { expected, type Parameter, scalar } from '../../parameter.ts'
import { Address, Data, Quantity } from '../../wire/scalars.ts'
import { COW } from '../example-accounts.ts'
import { order, under } from './family.ts'

/** A word of storage: up to 32 bytes in hex, padded with zeros on the left, or a JSON integer. */
const Word: Parameter<bigint> = scalar({
  form: anyOf(hex({ prefix: 'required', most: 64 }), integer(0, Number.MAX_SAFE_INTEGER)),
  description: 'a word of 32 bytes',
  decode: (value) => (value === '0x' ? 0n : BigInt(value)),
  refusal: (_, name) => expected(name, 'at most 32 bytes in hex'),
})

function edit({ dev }: Engine, change: AccountEdit): Promise<void> {
  return dev.editState([change])
}

const SET_BALANCE = order({
  name: 'setBalance',
  aliases: ['evm_setAccountBalance'],
  summary: 'Sets the balance of an account, in wei, in the state after the head, without mining a block.',
  params: { address: Address, balance: Quantity },
  example: [COW, '0xc9f2c9cd04674edea40000000'],
  run: ({ address, balance }, { engine }) => edit(engine, { address, balance }),
})

const [, anvil_setBalance] = SET_BALANCE

const ADD_BALANCE = order({
  name: 'addBalance',
  summary: 'Adds wei to the balance of an account in the state after the head, without mining a block.',
  params: { address: Address, amount: Quantity },
  example: [COW, '0x0'],
  run: ({ address, amount }, { engine }) => engine.dev.addBalance(address, amount),
})

const [, anvil_addBalance] = ADD_BALANCE

const SET_CODE = order({
  name: 'setCode',
  aliases: ['evm_setAccountCode'],
  summary: 'Sets the code of an address; empty bytes remove it.',
  params: { address: Address, code: Data },
  example: [COW, '0x'],
  run: ({ address, code }, { engine }) => edit(engine, { address, code }),
})

const SET_NONCE = order({
  name: 'setNonce',
  aliases: ['evm_setAccountNonce'],
  summary: 'Raises the nonce of an account.',
  params: { address: Address, nonce: Quantity },
  example: [COW, '0x0'],
  run: ({ address, nonce }, { engine }) => edit(engine, { address, nonce }),
})

/** Both families answer true. */
export const hardhat_setStorageAt = method({
  name: 'hardhat_setStorageAt',
  changesState: true,
  aliases: ['anvil_setStorageAt', 'evm_setAccountStorageAt'],
  summary: 'Writes one word of the storage of an account.',
  params: { address: Address, slot: Word, value: Word },
  result: () => z.literal(true),
  examples: [{ params: [COW, '0x0', `0x${'0'.repeat(64)}`], result: true }],
  async run({ address, slot, value }, { engine }) {
    await edit(engine, { address, storage: new Map([[slot, value]]) })
    return true as const
  },
})

/** The methods of this file, in the order of the document. */
export const DEV_STATE_METHODS = [
  ...SET_BALANCE,
  under('tenderly_setBalance', anvil_setBalance),
  ...ADD_BALANCE,
  under('tenderly_addBalance', anvil_addBalance),
  ...SET_CODE,
  ...SET_NONCE,
  hardhat_setStorageAt,
] as const
