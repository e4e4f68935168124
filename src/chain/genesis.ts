/** The first block of a network and its accounts, from a genesis file. */
import { z } from 'zod'
import { fromBigInt, toBigInt, toNumber } from '../encoding/bytes.ts'
import { keccakHex } from '../encoding/hash.ts'
import { fromHex, type Hex, isHexDigits, lowerCaseHex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { NodeError } from '../errors.ts'
import { type Account, EMPTY_ACCOUNT, EMPTY_TRIE_ROOT } from './account.ts'
import type { RuleHeights } from './activations.ts'
import type { ChainConfig } from './config.ts'
import { ELEMENT, type Header } from './header.ts'
import { activatePrecompiles } from './precompile-accounts.ts'

/** An account of the genesis state. */
export interface GenesisAccount {
  /** Is it marked as a contract? Precompiles are, without code. */
  readonly isContract: boolean
  /** Wei. */
  readonly balance: bigint
  readonly nonce: bigint
  readonly code?: Uint8Array
  readonly storage?: ReadonlyMap<bigint, bigint>
}

/** A parsed genesis file. Immutable. */
export interface Genesis {
  /**
   * The header of block 0. `postState` is the state root of `accounts`; it is in the header unless the file gives a
   * root of an older format, as mainnet's does.
   */
  header(postState: Hex): Header
  readonly accounts: ReadonlyMap<Hex, GenesisAccount>
  /** Does the header carry the real network's root, which differs from our state's? */
  readonly hasHistoricalRoot: boolean
  /** Writes the accounts, with their code and storage, into an empty state. */
  apply(state: GenesisState): void
}

/** The part of a state that a genesis is written into. */
export interface GenesisState {
  putAccount(address: Hex, account: Account): void
  putCode(address: Hex, code: Uint8Array): void
  putStorage(address: Hex, slot: bigint, value: bigint): void
}

/** Balance of funded accounts that are not in the file: that of each well-known local account, wei. */
export const LOCAL_BALANCE = 10n ** 30n

const hexText = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and an even number of hex digits')
  .transform((text) => lowerCaseHex(text))
const hexOf = (bytes: number) =>
  hexText.refine((text) => text.length === 2 + 2 * bytes, `must hold ${bytes} bytes`)
const small = hexText.refine((text) => text.length <= 14, 'must hold at most 6 bytes')
const digits = z.string().refine(isHexDigits, 'must be hex digits without 0x')
const word = digits.refine((text) => text.length > 0 && text.length <= 64, 'must hold 1 to 32 bytes')
const decimal = z.string().regex(/^[0-9]+$/, 'must be a decimal number in quotes')

const genesisFile = z.object({
  parentHash: hexOf(32),
  coinbase: hexOf(20),
  difficulty: hexText,
  gasLimit: small,
  timestamp: small,
  extraData: hexText,
  minimumGasPrice: hexText,
  bitcoinMergedMiningHeader: hexText,
  bitcoinMergedMiningMerkleProof: hexText,
  bitcoinMergedMiningCoinbaseTransaction: hexText,
  stateRoot: hexOf(32).optional(),
  alloc: z.record(
    z.string().regex(/^([0-9a-fA-F]{40}|00)$/, 'must be 40 hex digits'),
    z.object({
      balance: decimal,
      nonce: decimal.optional(),
      contract: z
        .object({
          code: digits.refine((text) => text.length % 2 === 0, 'must hold whole bytes'),
          data: z.record(word, word),
        })
        .optional(),
    }),
  ),
})

type GenesisFile = z.infer<typeof genesisFile>

/** What the genesis of a local chain has in addition to the file. */
export interface LocalGenesis {
  /** Accounts to fund. */
  readonly addresses: readonly Hex[]
  /** Wei for each of them, also for those that the file funds; `LOCAL_BALANCE` for the others when absent. */
  readonly balance?: bigint | undefined
  /** Of block 0, Unix seconds; the file's when absent. */
  readonly timestamp?: number | undefined
  /** Further accounts; they replace those of the same address. */
  readonly alloc?: GenesisAlloc | undefined
  /** Nonces of accounts, whichever balance they have. */
  readonly nonces?: ReadonlyMap<Hex, bigint> | undefined
}

/** Accounts of a genesis by address. */
export type GenesisAlloc = ReadonlyMap<Hex, Partial<Omit<GenesisAccount, 'isContract'>>>

/**
 * Reads a genesis file (keys of docs/internals/protocol.md#71-genesis-file). Other keys are ignored, as the reference node
 * does. When accounts are added the genesis is no longer that of the real network, so a historical root is dropped.
 * Throws `invalid-options` naming the key that is wrong.
 */
export function parseGenesis(
  json: unknown,
  config: ChainConfig,
  { addresses, balance, timestamp, alloc = new Map(), nonces = new Map() }: LocalGenesis = { addresses: [] },
): Genesis {
  const parsed = genesisFile.safeParse(json)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const where = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}:`
    throw new NodeError('invalid-options', `genesis file:${where} ${issue?.message ?? 'malformed'}`)
  }
  const file = parsed.data
  const accounts = genesisAccounts(file, config.ruleHeights)
  const added = addresses.filter((address) => balance !== undefined || !accounts.has(address))
  for (const address of added) {
    accounts.set(address, { balance: balance ?? LOCAL_BALANCE, nonce: 0n, isContract: false })
  }
  for (const [address, { balance = 0n, nonce = 0n, code, storage }] of alloc) {
    const isContract = code !== undefined
    accounts.set(address, { balance, nonce, isContract, ...(code && { code }), ...(storage && { storage }) })
  }
  for (const [address, nonce] of nonces) {
    accounts.set(address, { balance: 0n, isContract: false, ...accounts.get(address), nonce })
  }
  const historicalRoot = added.length === 0 && alloc.size === 0 ? file.stateRoot : undefined
  return {
    header: (postState) => {
      const header = genesisHeader(file, config, historicalRoot ?? postState)
      return timestamp === undefined ? header : { ...header, timestamp }
    },
    accounts,
    hasHistoricalRoot: historicalRoot !== undefined,
    apply: (state) => applyAccounts(accounts, state),
  }
}

function applyAccounts(accounts: ReadonlyMap<Hex, GenesisAccount>, state: GenesisState): void {
  for (const [address, { balance, nonce, code, storage, isContract }] of accounts) {
    state.putAccount(address, { ...EMPTY_ACCOUNT, balance, nonce, isContract })
    if (code !== undefined) state.putCode(address, code)
    for (const [slot, value] of storage ?? []) state.putStorage(address, slot, value)
  }
}

function genesisHeader(file: GenesisFile, config: ChainConfig, stateRoot: Hex): Header {
  const difficulty = fromHex(file.difficulty)
  const gasLimit = config.genesis?.gasLimit ?? toBigInt(fromHex(file.gasLimit))
  return {
    version: 0,
    parentHash: file.parentHash,
    unclesHash: keccakHex(encodeRlp([])),
    coinbase: file.coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: toBigInt(difficulty),
    number: 0,
    gasLimit,
    gasUsed: 0n,
    timestamp: toNumber(fromHex(file.timestamp)),
    extraData: fromHex(file.extraData),
    paidFees: 0n,
    minimumGasPrice: config.genesis?.minimumGasPrice ?? toBigInt(fromHex(file.minimumGasPrice)),
    uncleCount: 0,
    ummRoot: undefined,
    edges: undefined,
    baseEvent: undefined,
    bitcoinHeader: fromHex(file.bitcoinMergedMiningHeader),
    merkleProof: fromHex(file.bitcoinMergedMiningMerkleProof),
    coinbaseTransaction: fromHex(file.bitcoinMergedMiningCoinbaseTransaction),
    verbatim: {
      [ELEMENT.difficulty]: difficulty,
      [ELEMENT.gasLimit]: fromBigInt(gasLimit),
    },
  }
}

function genesisAccounts(file: GenesisFile, heights: RuleHeights): Map<Hex, GenesisAccount> {
  const accounts = new Map<Hex, GenesisAccount>()
  const empty = {
    account: () => undefined,
    putAccount: (address: Hex, { balance, nonce, isContract }: Account) =>
      void accounts.set(address, { balance, nonce, isContract }),
  }
  activatePrecompiles(empty, heights, 0)
  for (const [key, { balance, nonce, contract }] of Object.entries(file.alloc)) {
    if (key === '00') continue
    const address: Hex = `0x${key.toLowerCase()}`
    accounts.set(address, {
      isContract: contract !== undefined || accounts.has(address),
      balance: BigInt(balance),
      nonce: BigInt(nonce ?? '0'),
      ...(contract === undefined
        ? {}
        : {
            code: fromHex(`0x${contract.code}`),
            storage: new Map(
              Object.entries(contract.data).map(([slot, value]) => [
                BigInt(`0x${slot}`),
                BigInt(`0x${value}`),
              ]),
            ),
          }),
    })
  }
  return accounts
}
