/** Methods that read accounts: balance, nonce, code, storage, proof (docs/internals/rpc-reference.md#73-state). */
import { z } from 'zod'
import { EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../../../chain/account.ts'
import { toFixedHex, toHex, toQuantity } from '../../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../../errors.ts'
import { blockAt, readState, requireKnown, stateAt } from '../../block-lookup.ts'
import { method } from '../../method.ts'
import { optional } from '../../parameter.ts'
import { AccountInfoObject, toRpcAccountInfo } from '../../wire/account.ts'
import { StateBlock } from '../../wire/block-reference.ts'
import { ProofObject, SlotsByAccount, StorageKeys, toRpcProof } from '../../wire/proof.ts'
import {
  Address,
  AddressText,
  BalanceText,
  DataText,
  HashText,
  QuantityText,
  StoragePosition,
} from '../../wire/scalars.ts'
import { COW, NOBODY } from '../example-accounts.ts'

const ZERO_WORD = toFixedHex(0n, 32)

export const eth_getBalance = method({
  name: 'eth_getBalance',
  hosted: true,
  summary: 'Balance of an account at a block, in wei.',
  params: { address: Address, block: optional(StateBlock, 'latest') },
  result: () => BalanceText,
  errors: ['block-not-found'],
  examples: [{ params: [COW, 'earliest'], result: '0xc9f2c9cd04674edea40000000' }],
  run: ({ address, block }, { engine }) =>
    readState(block, engine, (state) => toQuantity(state.account(address)?.balance ?? 0n)),
})

export const eth_getTransactionCount = method({
  name: 'eth_getTransactionCount',
  hosted: true,
  summary:
    'Number of transactions that an account has sent; with `pending`, its next nonce including pooled transactions.',
  params: { address: Address, block: optional(StateBlock, 'latest') },
  result: () => QuantityText,
  errors: ['block-not-found'],
  examples: [{ params: [COW, 'latest'], result: '0x0' }],
  run({ address, block }, { engine }) {
    if ('tag' in block.reference && block.reference.tag === 'pending') {
      return toQuantity(engine.queries.pendingNonce(address))
    }
    return readState(block, engine, (state) => toQuantity(state.account(address)?.nonce ?? 0n))
  },
})

export const eth_getCode = method({
  name: 'eth_getCode',
  hosted: true,
  summary: 'Code of an account at a block; null at a block that does not exist.',
  params: { address: Address, block: StateBlock },
  result: () => DataText.nullable(),
  errors: ['block-not-found'],
  examples: [
    { params: [NOBODY, 'latest'], result: '0x' },
    { params: [NOBODY, '0xffffff'], result: null },
  ],
  async run({ address, block }, { engine }) {
    if (block.exact) requireKnown(block, engine.queries)
    const state = await engine.queries.state(block.reference)
    if (state === undefined) return null
    const account = state.account(address)
    if (account === undefined || account.codeHash === EMPTY_CODE_HASH) return '0x'
    return toHex(state.code(account.codeHash))
  },
})

export const eth_getStorageAt = method({
  name: 'eth_getStorageAt',
  hosted: true,
  summary: 'The word in a storage slot of an account at a block, always 32 bytes.',
  params: { address: Address, position: StoragePosition, block: StateBlock },
  result: () => HashText,
  errors: ['block-not-found'],
  examples: [{ params: [NOBODY, '0x0', 'latest'], result: ZERO_WORD }],
  run: ({ address, position, block }, { engine }) =>
    readState(block, engine, (state) => toFixedHex(state.storage(address, position), 32)),
})

export const eth_getProof = method({
  name: 'eth_getProof',
  summary:
    'Proofs of an account and of some of its storage slots against the state root of a block: RLP nodes of the unified trie, leaf first.',
  params: { address: Address, storageKeys: StorageKeys, block: StateBlock },
  result: () => ProofObject,
  errors: ['block-not-found'],
  examples: [],
  async run({ address, storageKeys, block }, { engine }) {
    requireKnown(block, engine.queries)
    const { fork } = engine
    const view = fork && (await engine.queries.block(block.reference))
    if (fork !== undefined && view !== undefined) {
      const there = fork.provableAt(view.executed, address)
      const keys = storageKeys.map((slot) => toFixedHex(slot, 32))
      if (there !== undefined) {
        return ProofObject.parse(await fork.remote.request('eth_getProof', [address, keys, there.hash]))
      }
    }
    const proof = await engine.queries.proof(address, storageKeys, block.reference)
    if (proof === undefined) throw new NodeError('block-not-found', `${block.label} not found`)
    return toRpcProof(proof)
  },
})

export const eth_getAccount = method({
  name: 'eth_getAccount',
  summary:
    'Nonce, balance, code hash and storage root of an account at a mined block; an account that does not exist is shown as an empty one.',
  params: { address: Address, block: optional(StateBlock, 'latest') },
  result: () =>
    z.strictObject({
      nonce: QuantityText,
      balance: QuantityText,
      storageRoot: HashText.describe(
        'hash of the trie node above the storage; that of an empty trie when the account has no storage',
      ),
      codeHash: HashText,
    }),
  errors: ['block-not-found'],
  examples: [
    {
      params: [COW],
      result: {
        nonce: '0x0',
        balance: '0xc9f2c9cd04674edea40000000',
        storageRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
        codeHash: EMPTY_CODE_HASH,
      },
    },
  ],
  async run({ address, block }, { engine }) {
    const state = await stateAt(block, engine)
    const { executed, pending } = await blockAt(block, engine)
    if (pending) throw invalidParams('block: the pending block has no storage roots')
    const { nonce, balance, codeHash } = state.account(address) ?? EMPTY_ACCOUNT
    return {
      nonce: toQuantity(nonce),
      balance: toQuantity(balance),
      storageRoot: engine.queries.storageHash(executed, address),
      codeHash,
    }
  },
})

export const eth_getAccountInfo = method({
  name: 'eth_getAccountInfo',
  summary: 'Balance, nonce and code of an account at a block.',
  params: { address: Address, block: optional(StateBlock, 'latest') },
  result: () => AccountInfoObject,
  errors: ['block-not-found'],
  examples: [{ params: [COW], result: { balance: '0xc9f2c9cd04674edea40000000', nonce: '0x0', code: '0x' } }],
  run: async ({ address, block }, { engine }) => toRpcAccountInfo(await stateAt(block, engine), address),
})

export const eth_getStorageValues = method({
  name: 'eth_getStorageValues',
  summary: 'The words in at most 1024 storage slots of one or more accounts at a block, by account.',
  params: { slots: SlotsByAccount, block: optional(StateBlock, 'latest') },
  result: () => z.record(AddressText, z.array(HashText)),
  errors: ['block-not-found'],
  examples: [{ params: [{ [NOBODY]: ['0x0', ZERO_WORD] }], result: { [NOBODY]: [ZERO_WORD, ZERO_WORD] } }],
  async run({ slots, block }, { engine }) {
    const state = await stateAt(block, engine)
    const found = [...slots].map(
      ([address, asked]) =>
        [address, asked.map((slot) => toFixedHex(state.storage(address, slot), 32))] as const,
    )
    return Object.fromEntries(found)
  },
})

/** The methods of this file, in the order of the document. */
export const STATE_METHODS = [
  eth_getBalance,
  eth_getTransactionCount,
  eth_getCode,
  eth_getStorageAt,
  eth_getProof,
  eth_getAccount,
  eth_getAccountInfo,
  eth_getStorageValues,
] as const
