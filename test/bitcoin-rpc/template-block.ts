/** Blocks that bitcoinjs-lib builds from a `getblocktemplate`. */
import { createRequire } from 'node:module'

const { Block, script, Transaction } = createRequire(import.meta.url)('bitcoinjs-lib')

/** What a template has that a miner needs. */
export interface Template {
  readonly version: number
  readonly previousblockhash: string
  readonly transactions: readonly { readonly data: string }[]
  readonly coinbasevalue: number
  readonly default_witness_commitment: string
  readonly curtime: number
  readonly bits: string
  readonly height: number
}

/** A found block, its reward to anyone. */
export function blockOfTemplate(template: Template): { readonly hex: string; readonly hash: string } {
  const coinbase = new Transaction()
  const unlocking = script.compile([script.number.encode(template.height), Buffer.of(0)])
  coinbase.addInput(Buffer.alloc(32), 0xffffffff, undefined, unlocking)
  coinbase.setWitness(0, [Buffer.alloc(32)])
  coinbase.addOutput(Buffer.of(0x51), BigInt(template.coinbasevalue))
  coinbase.addOutput(Buffer.from(template.default_witness_commitment, 'hex'), 0n)
  const block = new Block()
  block.version = template.version
  block.prevHash = Buffer.from(template.previousblockhash, 'hex').reverse()
  block.timestamp = template.curtime
  block.bits = Number.parseInt(template.bits, 16)
  block.nonce = 0
  block.transactions = [coinbase, ...template.transactions.map(({ data }) => Transaction.fromHex(data))]
  block.merkleRoot = Block.calculateMerkleRoot(block.transactions)
  while (!block.checkProofOfWork()) block.nonce++
  return { hex: block.toHex(), hash: block.getId() }
}
