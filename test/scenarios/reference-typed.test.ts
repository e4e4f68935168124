/**
 * The reference node's own tests of RSKIP-543, 545 and 546 (fixtures/typed-transactions/reference-dsl.json): their
 * transactions in their blocks. The states are those that `Rskip545DeepDslTest` and `Rskip545DslTest` assert.
 */
import { id, Wallet } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import { signTransaction } from '../../src/chain/transaction.ts'
import { NAMESPACE } from '../../src/chain/transaction-types.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { fixture } from '../support/fixture.ts'

interface Step {
  readonly account?: string
  readonly balance?: string
  readonly transaction?: string
  readonly block?: string
  readonly transactions?: readonly string[]
  readonly succeeded?: string
  readonly balanceOf?: string
  readonly is?: string
  readonly sender?: string
  readonly nonce?: string
  readonly receiver?: string
  readonly receiverAddress?: string
  readonly contract?: string
  readonly value?: string
  readonly data?: string
  readonly gas?: string
  readonly gasPrice?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly transactionType?: string
  readonly rskSubtype?: string
  readonly authorizations?: readonly (readonly [string, string, string, string?])[]
}

const FILES = fixture<Record<string, readonly Step[]>>('typed-transactions/reference-dsl.json')

/** A world of the reference's tests on a node. */
class World {
  readonly #node: Node
  readonly #raw = new Map<string, string>()
  readonly #hashes = new Map<string, string>()

  constructor(node: Node) {
    this.#node = node
  }

  // biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
  ask(method: string, ...params: unknown[]): Promise<any> {
    return this.#node.request({ method, params })
  }

  wallet(name: string): Wallet {
    return new Wallet(id(name))
  }

  address(name: string): string {
    if (/^0*$/.test(name)) return `0x${'0'.repeat(40)}`
    return name.length === 40 ? `0x${name}` : this.wallet(name).address
  }

  /** The receipt of a transaction by its name. */
  receipt(name: string): Promise<{ status: string; contractAddress: string; type: string }> {
    return this.ask('eth_getTransactionReceipt', this.#hashes.get(name))
  }

  async run(step: Step): Promise<void> {
    const { account, transaction, block, succeeded, balanceOf } = step
    if (account !== undefined) {
      await this.ask(
        'hardhat_setBalance',
        this.address(account),
        `0x${BigInt(step.balance ?? 0).toString(16)}`,
      )
    } else if (transaction !== undefined) this.#raw.set(transaction, await this.#signed(step))
    else if (block !== undefined) await this.#mine(step.transactions ?? [])
    else if (succeeded !== undefined)
      expect([succeeded, (await this.receipt(succeeded)).status]).toEqual([succeeded, '0x1'])
    else if (balanceOf !== undefined) {
      expect(BigInt(await this.ask('eth_getBalance', this.address(balanceOf), 'latest'))).toBe(
        BigInt(step.is ?? 0),
      )
    }
  }

  async #mine(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#hashes.set(name, await this.ask('eth_sendRawTransaction', this.#raw.get(name)))
    }
    await this.ask('evm_mine')
    const { transactions } = await this.ask('eth_getBlockByNumber', 'latest', false)
    for (const name of names) expect(transactions).toContain(this.#hashes.get(name))
  }

  async #receiver({ receiver, contract }: Step): Promise<string | null> {
    if (contract !== undefined) return (await this.receipt(contract)).contractAddress
    return receiver === undefined ? null : this.address(receiver)
  }

  async #signed(step: Step): Promise<string> {
    const { sender = '', nonce = '0', value = '0', data = '', gas = '0', transactionType, rskSubtype } = step
    const to = await this.#receiver(step)
    const wallet = this.wallet(sender)
    const authorizationList = (step.authorizations ?? []).map(([authority, delegate, its, chain = '21']) =>
      this.wallet(authority).authorizeSync({
        address: this.address(delegate),
        nonce: Number(its),
        chainId: Number.parseInt(chain, 16),
      }),
    )
    if (rskSubtype !== undefined) {
      const unsigned = {
        nonce: BigInt(nonce),
        gasPrice: BigInt(step.gasPrice ?? 1),
        gasLimit: BigInt(gas),
        to: to === null ? null : (to.toLowerCase() as Hex),
        value: BigInt(value),
        data: fromHex(`0x${data}`),
        chainId: 33,
        type: NAMESPACE + Number.parseInt(rskSubtype, 16),
      }
      return toHex(signTransaction(unsigned, fromHex(wallet.privateKey as Hex)).raw)
    }
    const type = Number.parseInt(transactionType ?? '0', 16)
    const { gasPrice = '1', maxFeePerGas = '0', maxPriorityFeePerGas = '0' } = step
    return wallet.signTransaction({
      ...{ type, chainId: 33, nonce: Number(nonce), gasLimit: BigInt(gas), to, value, data: `0x${data}` },
      ...(type < 2 ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas }),
      ...(type === 4 && { authorizationList }),
    })
  }
}

/** What the Java tests assert after a block: code and nonce of an account. */
const STATES: Readonly<
  Record<string, readonly (readonly [account: string, delegate: number, nonce?: number])[]>
> = {
  b01: [['sponsor', 4, 3]],
  b02: [['sponsor', 3, 5]],
  b03: [
    ['sponsor', 3, 7],
    ['acc3', 3, 1],
  ],
  b04: [['acc3', 1]],
}

describe("the reference node's tests of typed transactions", () => {
  let node: Node | undefined
  afterEach(() => node?.close())

  it.each(Object.keys(FILES))('%s', async (file) => {
    node = await createNode({ rules: 'next', mining: 'manual' })
    const world = new World(node)
    for (const step of FILES[file] ?? []) {
      await world.run(step)
      if (file !== 'rskip545DeepTest') continue
      for (const [account, delegate, nonce] of STATES[step.block ?? ''] ?? []) {
        const code = await world.ask('eth_getCode', world.address(account), 'latest')
        expect(code).toBe(`0xef0100${delegate.toString(16).padStart(40, '0')}`)
        const its = Number(await world.ask('eth_getTransactionCount', world.address(account), 'latest'))
        if (nonce !== undefined) expect(its).toBe(nonce)
      }
    }
  })
})
