/** Reads state files: those of this node, Anvil's dumps, geth's accounts and genesis files, the reference node's genesis files. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { EMPTY, stripZeros } from '../../encoding/bytes.ts'
import { fromHex, type Hex } from '../../encoding/hex.ts'
import { isObject } from '../../encoding/json-object.ts'
import { invalidParams } from '../../errors.ts'
import { MAX_NONCE } from '../account.ts'
import { decodeBlock } from '../block.ts'
import { type ChainConfig, LATEST_TIMESTAMP } from '../config.ts'
import { networkDifferences } from '../network.ts'
import { decodeStoredReceipt } from '../receipt.ts'
import { changesOf } from '../rule-choice.ts'
import { describeChanges, type RuleTable, sameChanges } from '../rule-table.ts'
import { definitionOf } from '../shipped-networks.ts'
import { attributedTransaction, type Transaction } from '../transaction.ts'
import type {
  AccountChange,
  BlockRecord,
  DumpedHead,
  LoadedHead,
  PartialAccount,
  StateChangeRecord,
  VerifiedContract,
} from './records.ts'
import { CHECKSUM_MARK, STATE_FORMAT, STATE_VERSION } from './write.ts'

/** The sources of contracts in a file. */
export interface FileSources {
  /** Not checked. */
  readonly compilations: readonly unknown[]
  readonly verified: readonly VerifiedContract[]
}

/** What a file holds: accounts to load after the head, or a whole chain. */
export type StateFile =
  | {
      readonly kind: 'accounts'
      readonly accounts: ReadonlyMap<Hex, PartialAccount>
      /** Of the dumped chain, where the file names it. */
      readonly head?: LoadedHead | undefined
      readonly sources: FileSources
    }
  | {
      readonly kind: 'chain'
      readonly head: DumpedHead
      /** From the first block on. Each record is decoded when it is reached; throws `invalid-params` for a malformed one. */
      readonly blocks: Iterable<BlockRecord>
      readonly pool: readonly Transaction[]
      /** State of the parent chain in the dumped node, where it had one. */
      readonly parent?: Uint8Array | undefined
      readonly sources: FileSources
    }

const WORD_LIMIT = 2n ** 256n
/** Blocks of a chain that begins here have numbers of 4 bytes (RSKIP-110) for as long as it can run. */
const MAX_HEIGHT = 2n ** 31n - 1n

const lower = (text: string): Hex => `0x${text.replace(/^0x/i, '').toLowerCase()}`

const address = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{40}$/, 'must be an address of 20 bytes in hex')
  .transform(lower)
/** A number in JSON, in decimal digits, or in hex with 0x. */
export const quantity = z
  .union([z.int().min(0), z.string().regex(/^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/, 'must be a number')])
  .transform((value) => BigInt(value))
const amount = quantity.refine((value) => value < WORD_LIMIT, 'must fit in 32 bytes')
/** Wei. The Bridge's balance can be below zero, which the reference node writes as `0x-5`. */
const balance = z
  .union([z.int().min(0), z.string().regex(/^(0x-?[0-9a-fA-F]{1,64}|[0-9]{1,78})$/, 'must be a number')])
  .transform((value) => {
    const [, below] = /^0x-(.*)$/.exec(String(value)) ?? []
    return below === undefined ? BigInt(value) : -BigInt(`0x${below}`)
  })
  .refine((value) => value < WORD_LIMIT, 'must fit in 32 bytes')
const nonce = quantity.refine((value) => value <= MAX_NONCE, 'must fit in 8 bytes')
const bytes = z
  .string()
  .regex(/^(0x)?([0-9a-fA-F]{2})*$/, 'must be whole bytes in hex')
  .transform((text) => fromHex(lower(text)))
const word = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{1,64}$/, 'must be up to 32 bytes in hex')
  .transform((text) => BigInt(lower(text)))
const cellBytes = word.transform((value) =>
  value === 0n ? EMPTY : stripZeros(fromHex(`0x${value.toString(16).padStart(64, '0')}`)),
)

/** A record whose keys are parsed too. */
function mapOf<K, V>(key: z.ZodType<K, string>, value: z.ZodType<V>): z.ZodType<ReadonlyMap<K, V>> {
  return z.record(z.string(), z.unknown()).transform((entries, context) => {
    const map = new Map<K, V>()
    for (const [name, item] of Object.entries(entries)) {
      const [readKey, readValue] = [key.safeParse(name), value.safeParse(item)]
      const issue = readKey.error?.issues[0] ?? readValue.error?.issues[0]
      if (issue !== undefined || !readKey.success || !readValue.success) {
        context.addIssue({
          code: 'custom',
          message: issue?.message ?? 'malformed',
          path: [name, ...(issue?.path ?? [])],
        })
        return z.NEVER
      }
      map.set(readKey.data, readValue.data)
    }
    return map
  })
}

const words = mapOf(word, cellBytes)
const rawCells = mapOf(word, bytes)

/** An account in the form of geth, Anvil, this node, or (with `contract` an object) of the reference node. */
const account = z
  .object({
    balance: balance.optional(),
    nonce: nonce.optional(),
    code: bytes.optional(),
    storage: words.optional(),
    contract: z.union([z.boolean(), z.object({ code: bytes, data: words.optional() })]).optional(),
    cells: rawCells.optional(),
  })
  .transform((given): PartialAccount => {
    const { contract, storage, cells } = given
    const code = typeof contract === 'object' ? contract.code : given.code
    const data = typeof contract === 'object' ? contract.data : storage
    const isContract = typeof contract === 'boolean' ? contract : code && code.length > 0
    return {
      ...(given.balance !== undefined && { balance: given.balance }),
      ...(given.nonce !== undefined && { nonce: given.nonce }),
      ...(code && { code }),
      ...(isContract !== undefined && { isContract }),
      ...((data ?? cells) && { cells: new Map([...(data ?? []), ...(cells ?? [])]) }),
    }
  })

const accounts = mapOf(address, account)
const otherAccounts = mapOf(
  z
    .string()
    .regex(/^0x[0-9a-f]{2}$/)
    .transform(lower),
  account,
)

const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform(lower)
/** The head of a dump in Anvil's form, which this node writes as well. */
const headMember = z
  .object({
    number: quantity
      .refine((value) => value <= MAX_HEIGHT, `must be at most ${MAX_HEIGHT}`)
      .transform(Number),
    timestamp: quantity
      .refine((value) => value <= BigInt(LATEST_TIMESTAMP), `must be at most ${BigInt(LATEST_TIMESTAMP)}`)
      .transform(Number),
    basefee: amount,
  })
  .transform(
    ({ number, timestamp, basefee }): LoadedHead => ({ number, timestamp, minimumGasPrice: basefee }),
  )
  .nullish()
const verified = z.object({
  address,
  codeHash: hash,
  compilation: hash,
  file: z.string(),
  name: z.string(),
})
const sourceMembers = {
  sources: z.array(z.unknown()).default([]),
  verified: z.array(verified).default([]),
}
/** Other tools keep or copy these members of a state file. */
const foreignSources = z.object(sourceMembers)
const envelope = z.object({
  version: z.int(),
  chain: z.string(),
  chainId: z.int(),
  network: z.looseObject({}).optional(),
  rules: z.record(z.string(), z.int().min(0).nullable()).default({}),
  head: z.object({ number: z.int().min(0), hash, stateRoot: hash }),
  accounts,
  otherAccounts,
  block: headMember,
  history: z.array(z.unknown()).optional(),
  pool: z.array(z.object({ raw: bytes, from: address })).default([]),
  parentChain: bytes.optional(),
  ...sourceMembers,
})

const change = z
  .object({
    nonce,
    balance,
    contract: z.boolean().default(false),
    code: bytes.optional(),
    new: z.literal(true).optional(),
    cells: rawCells.default(new Map()),
  })
  .transform(
    ({ contract, code, new: isNew, ...rest }): AccountChange => ({
      ...rest,
      isContract: contract,
      ...(code && { code }),
      ...(isNew && { isNew }),
    }),
  )
const changes: z.ZodType<StateChangeRecord> = mapOf(
  z
    .string()
    .regex(/^0x[0-9a-f]*$/)
    .transform(lower),
  change.nullable(),
)
const block = z.object({
  raw: bytes,
  from: z.array(
    z
      .string()
      .regex(/^0x[0-9a-f]*$/)
      .transform(lower),
  ),
  receipts: z.array(bytes),
  internals: z
    .array(
      z.object({
        index: z.int().min(0),
        participants: z.array(address),
        creations: z.array(z.object({ contract: address, creator: address })),
      }),
    )
    .default([]),
  changes,
  edits: changes.default(new Map()),
})

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const outcome = schema.safeParse(value)
  if (outcome.success) return outcome.data
  const issue = outcome.error.issues[0]
  const where = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}:`
  throw invalidParams(`${what}:${where} ${issue?.message ?? 'malformed'}`)
}

/** The blocks of a file that ends with the one at height `last`. */
function* blockRecords(
  entries: readonly unknown[],
  last: number,
  config: ChainConfig,
): Generator<BlockRecord, undefined> {
  for (const [index, entry] of entries.entries()) {
    const number = last - (entries.length - 1 - index)
    const { raw, from, receipts, ...states } = check(block, entry, `block ${number} of the state file`)
    try {
      yield { block: decodeBlock(raw, config, from), receipts: receipts.map(decodeStoredReceipt), ...states }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw invalidParams(`block ${number} of the state file: ${error.message}`)
    }
  }
}

function requireChecksum(text: string): void {
  const end = text.lastIndexOf(CHECKSUM_MARK)
  const sum = createHash('sha256').update(text.slice(0, end)).digest('hex')
  if (end < 0 || text.slice(end + CHECKSUM_MARK.length).trimEnd() !== `${sum}"}`) {
    throw invalidParams(
      'The checksum of the state file is wrong: it was cut off or changed after it was written.',
    )
  }
}

/** Throws `invalid-params` where a file of the same network has another chain id. */
function requireChainId(found: number, { name, chainId }: ChainConfig): void {
  if (found === chainId) return
  throw invalidParams(
    `The state file is of chain id ${found}, not of this chain's (${name}, chain id ${chainId}); tandem load --force loads it all the same.`,
  )
}

/** Throws `invalid-params` for blocks of a network that has the name of this one and other constants. */
function requireNetwork(found: object | undefined, { name, network }: ChainConfig): void {
  const others = networkDifferences(found, definitionOf(network))
  if (others.length === 0) return
  throw invalidParams(
    `The chain of the state file is of another network ${name}: its ${others.join(', ')} are not those of this chain. Start the node with the file that it was made with (--chain), or dump the state without history.`,
  )
}

/** Throws `invalid-params` for blocks that were made by other rules. */
function requireRules(found: RuleTable, config: ChainConfig): void {
  const own = changesOf(config)
  if (sameChanges(found, own)) return
  const words = (rules: RuleTable) => describeChanges(rules) || 'no other rules than its network'
  throw invalidParams(
    `The chain of the state file has ${words(found)}, and this one ${words(own)}: start the node with the same rules (--rules), or dump the state without history.`,
  )
}

function ownFile(json: object, text: string, config: ChainConfig, isForced: boolean): StateFile {
  const version = 'version' in json ? json.version : undefined
  if (version !== STATE_VERSION) {
    throw invalidParams(
      `The state file has version ${String(version)}, and this node reads version ${STATE_VERSION}.`,
    )
  }
  requireChecksum(text)
  const file = check(envelope, json, 'state file')
  const { chain, chainId, head, history, pool, parentChain } = file
  const sources = { compilations: file.sources, verified: file.verified }
  if (chain !== config.name) {
    throw invalidParams(
      `The state file is of chain ${chain} (chain id ${chainId}), not ${config.name} (chain id ${config.chainId}).`,
    )
  }
  if (!isForced) requireChainId(chainId, config)
  if (history === undefined) {
    const loaded = new Map([...file.accounts, ...file.otherAccounts])
    return { kind: 'accounts', accounts: loaded, head: file.block ?? undefined, sources }
  }
  requireNetwork(file.network, config)
  requireRules(file.rules, config)
  return {
    kind: 'chain',
    head,
    blocks: blockRecords(history, head.number, config),
    pool: pool.map(({ raw, from }) => attributedTransaction(raw, from)),
    parent: parentChain,
    sources,
  }
}

/** The reference node's genesis files have an entry `00` without meaning. */
function withoutMarker(alloc: unknown): unknown {
  if (!isObject(alloc)) return alloc
  const { '00': _, ...rest } = alloc
  return rest
}

/** Reads accounts by address, in the form of geth, Anvil or the reference node. Throws `invalid-params`; `what` names them. */
export function readAccounts(json: unknown, what: string): ReadonlyMap<Hex, PartialAccount> {
  return check(accounts, withoutMarker(json), what)
}

/**
 * The accounts of a JSON value that is not a state file of this node. Throws `invalid-params` when it has none of the
 * known forms.
 */
function foreignAccounts(json: Record<string, unknown>): ReadonlyMap<Hex, PartialAccount> {
  for (const what of ['accounts', 'alloc']) if (isObject(json[what])) return readAccounts(json[what], what)
  const names = Object.keys(json)
  if (names.length > 0 && names.every((name) => address.safeParse(name).success)) {
    return readAccounts(json, 'accounts')
  }
  throw invalidParams(
    'No state was found: expected a state file of tandem, a dump of Anvil, accounts by address, or a genesis file with "alloc".',
  )
}

/**
 * Reads the text of a state file for a chain. Throws `invalid-params` when it is not a state file, and for a file of
 * this node that has another version, another chain or a wrong checksum, or, unless `isForced`, another chain id.
 */
export function readStateFile(text: string, config: ChainConfig, isForced = false): StateFile {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw invalidParams('The state is not JSON: it was cut off, or it is not a state file.')
  }
  if (!isObject(json)) throw invalidParams('The state is not a JSON object.')
  if (json.format === STATE_FORMAT) {
    return ownFile(json, text, config, isForced)
  }
  const settings = isObject(json.config) ? json.config.chainId : undefined
  if (typeof settings === 'number' && !isForced) requireChainId(settings, config)
  const accounts = foreignAccounts(json)
  const { sources: compilations, verified } = check(foreignSources, json, 'state file')
  return {
    kind: 'accounts',
    accounts,
    head: check(headMember, json.block, 'block') ?? undefined,
    sources: { compilations, verified },
  }
}
