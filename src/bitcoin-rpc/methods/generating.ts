/** Methods that mine. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { blockHash, encodeBlock } from '../../bitcoin/chain/block.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { digitsOf } from '../../bitcoin/displayed-hash.ts'
import { scriptOfAddress } from '../../bitcoin/regtest-address.ts'
import type { Transaction } from '../../bitcoin/transaction.ts'
import { isHexDigits } from '../../encoding/hex.ts'
import { scriptsOf } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import { flag, integer, text, transactionOf } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { getBlockTemplate } from './block-template.ts'

const category = 'Generating'

/** Blocks that are mined before other calls are answered. */
const AT_ONCE = 10

async function mine(
  { bitcoin, isOver }: Context,
  count: number,
  script: Uint8Array,
): Promise<readonly string[]> {
  const hashes: string[] = []
  try {
    while (hashes.length < count && !isOver()) {
      hashes.push(...bitcoin.mine(Math.min(AT_ONCE, count - hashes.length), script))
      if (hashes.length < count) await nextTurn()
    }
  } catch (error) {
    // Each block is later than those before it: many of them are too far ahead of the clock.
    if (!(error instanceof RuleViolation)) throw error
    throw new RpcFailure(CODE.MISC, `TestBlockValidity failed: ${error.message}`)
  }
  return hashes
}

const generateToAddress = method({
  name: 'generatetoaddress',
  category,
  help: 'Mines blocks whose rewards go to an address; returns their hashes.',
  parameters: { nblocks: integer, address: text, maxtries: integer.optional() },
  handle({ nblocks, address }, context) {
    const script = scriptOfAddress(address)
    if (script === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Error: Invalid address')
    return mine(context, nblocks, script)
  },
})

const generateToDescriptor = method({
  name: 'generatetodescriptor',
  category,
  help: 'Mines blocks whose rewards go to a descriptor; returns their hashes.',
  parameters: { num_blocks: integer, descriptor: text, maxtries: integer.optional() },
  handle({ num_blocks: count, descriptor }, context) {
    const [script] = scriptsOf(descriptor)
    if (script === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Cannot derive script')
    return mine(context, count, script)
  },
})

/** A transaction by its id in the mempool, or in hex digits. */
function chosen({ bitcoin }: Context, value: string): Transaction {
  if (value.length !== 64 || !isHexDigits(value)) return transactionOf(value)
  const entry = bitcoin.chain.state.mempool.get(value.toLowerCase())
  if (entry === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, `Transaction ${value} not in mempool.`)
  return entry.transaction
}

const generateBlock = method({
  name: 'generateblock',
  category,
  help: 'Mines a block of chosen transactions, by id or in hex digits, whose reward (without fees) goes to an address or descriptor.',
  parameters: { output: text, transactions: z.array(text), submit: flag.default(true) },
  handle({ output, transactions, submit }, context) {
    const script = scriptOfAddress(output) ?? scriptsOf(output)[0]
    if (script === undefined)
      throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Error: Invalid address or descriptor')
    const list = transactions.map((value) => chosen(context, value))
    const { chain } = context.bitcoin
    const block = chain.assemble({ script, transactions: { list, fees: 0n } })
    try {
      if (submit) return { hash: chain.submit(block).hash }
      chain.check(block)
      return { hash: blockHash(block), hex: digitsOf(encodeBlock(block)) }
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error
      throw new RpcFailure(CODE.VERIFY, `TestBlockValidity failed: ${error.message}`)
    }
  },
})

/** They mine. */
export const GENERATING_METHODS: readonly Method[] = [
  generateToAddress,
  generateToDescriptor,
  generateBlock,
  getBlockTemplate,
]
