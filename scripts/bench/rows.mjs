/**
 * What is compared. A row runs one unit of work on a prepared node and returns a figure, more being better unless its row
 * is declared otherwise, with the milliseconds of processor time that the node spent on one operation.
 */
import { readFileSync } from 'node:fs'
import { HDNodeWallet, Interface, Mnemonic, parseUnits } from 'ethers'
import { ACCOUNTS, CHAIN_ID, MNEMONIC } from './nodes.mjs'

const GAS_PRICE = parseUnits('3', 'gwei')
const words = Mnemonic.fromPhrase(MNEMONIC)
const wallets = Array.from({ length: ACCOUNTS }, (_, i) =>
  HDNodeWallet.fromMnemonic(words, `m/44'/60'/0'/0/${i}`),
)
const artifact = (name) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/contracts/${name}.json`, import.meta.url)))
const token = artifact('Token')
const probe = artifact('Probe')
const tokenAbi = new Interface(token.abi)
const probeAbi = new Interface(probe.abi)
const SINK = '0x00000000000000000000000000000000000a11ce'
/** Each node is warmed up by so many transactions, undone and made again so many times: the chain stays fresh. */
const WARM_UP = 100
const WARM_UP_CYCLES = 30
const hex = (value) => `0x${value.toString(16)}`

const sign = (wallet, fields) =>
  wallet.signTransaction({
    type: 0,
    chainId: CHAIN_ID,
    gasPrice: GAS_PRICE,
    value: 0n,
    data: '0x',
    ...fields,
  })

/** The receipt of a transaction, asked for until it is there: some nodes answer before they mine. */
async function receiptOf(client, hash) {
  for (;;) {
    const receipt = await client.call('eth_getTransactionReceipt', [hash])
    if (receipt !== null) return receipt
  }
}

/** A node with the contracts deployed, and what the rows need to know of it. */
export async function prepare(node, { warm = true } = {}) {
  const { client } = node
  const nonces = wallets.map(() => 0)
  const scene = { node, client, nonces, cycles: 0 }
  scene.nextNonce = (i) => nonces[i]++
  const deploy = async (data) => {
    const hash = await client.call('eth_sendRawTransaction', [
      await sign(wallets[0], { nonce: scene.nextNonce(0), gasLimit: 3_000_000n, data }),
    ])
    return (await receiptOf(client, hash)).contractAddress
  }
  scene.token = await deploy(token.bytecode + tokenAbi.encodeDeploy([10n ** 24n]).slice(2))
  scene.probe = await deploy(probe.bytecode)
  // Every node gets the same warm-up and then goes back, so that no row measures a compiler.
  for (let cycle = 0; warm && cycle < WARM_UP_CYCLES; cycle++) {
    const snapshot = await client.call('evm_snapshot')
    const gasLimit = 21_000n + BigInt(++scene.cycles)
    await oneByOne(scene, await signed(scene, 3, WARM_UP, () => ({ ...transfer(), gasLimit })))
    await client.call('evm_revert', [snapshot])
    nonces[3] -= WARM_UP
  }
  return scene
}

/** Signs `count` transactions of account `i` ahead of time. */
async function signed(scene, i, count, fields) {
  const raw = []
  for (let n = 0; n < count; n++)
    raw.push(await sign(wallets[i], { nonce: scene.nextNonce(i), ...fields(n) }))
  return raw
}

const transfer = () => ({ to: SINK, value: 1n, gasLimit: 21_000n })
const erc20 = (scene) => () => ({
  to: scene.token,
  gasLimit: 100_000n,
  data: tokenAbi.encodeFunctionData('transfer', [SINK, 1n]),
})

/** Runs work of so many operations; wall-clock seconds of all, and the node's processor time of one in milliseconds. */
async function timed(scene, operations, work) {
  const before = scene.node.cpuMs()
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  return { seconds, cpuMs: (scene.node.cpuMs() - before) / operations }
}

/** Operations a second. */
async function rate(scene, operations, work) {
  const { seconds, cpuMs } = await timed(scene, operations, work)
  return { figure: operations / seconds, cpuMs }
}

/** Milliseconds of one operation. */
export async function elapsed(scene, operations, work) {
  const { seconds, cpuMs } = await timed(scene, operations, work)
  return { figure: (seconds / operations) * 1000, cpuMs }
}

/** Sends each and reads its receipt before the next; transactions a second. */
function oneByOne(scene, raw) {
  return rate(scene, raw.length, async () => {
    for (const transaction of raw) {
      const hash = await scene.client.call('eth_sendRawTransaction', [transaction])
      await receiptOf(scene.client, hash)
    }
  })
}

/** Grows the chain by automined transfers, without looking at receipts. */
export async function grow(scene, blocks, to = SINK) {
  for (let done = 0; done < blocks; ) {
    const count = Math.min(100, blocks - done)
    for (const raw of await signed(scene, 1, count, () => ({ ...transfer(), to }))) {
      await scene.client.call('eth_sendRawTransaction', [raw])
    }
    done += count
  }
}

export const sequentialTransfers = async (scene) => oneByOne(scene, await signed(scene, 0, 100, transfer))
export const sequentialTokens = async (scene) => oneByOne(scene, await signed(scene, 0, 100, erc20(scene)))

/** 1,000 transfers of 100 senders handed in over 16 connections, then mined in one block; transactions a second. */
export async function bigBlock(scene) {
  await scene.node.automine(false)
  const raw = []
  for (let n = 0; n < 10; n++)
    for (let i = 0; i < ACCOUNTS; i++) raw.push(...(await signed(scene, i, 1, transfer)))
  const result = await rate(scene, raw.length, async () => {
    for (let at = 0; at < raw.length; at += 16) {
      await Promise.all(
        raw.slice(at, at + 16).map((one) => scene.client.call('eth_sendRawTransaction', [one])),
      )
    }
    await scene.client.call('evm_mine')
  })
  const block = await scene.client.call('eth_getBlockByNumber', ['latest', false])
  if (block.transactions.length < raw.length)
    throw new Error(`${scene.node.name} mined ${block.transactions.length} only`)
  scene.big = block.number
  await scene.node.automine(true)
  return result
}

const repeat = (scene, count, work) =>
  rate(scene, count, async () => {
    for (let i = 0; i < count; i++) await work(i)
  })

export const calls = (scene) => {
  const data = tokenAbi.encodeFunctionData('balanceOf', [wallets[0].address])
  return repeat(scene, 300, () => scene.client.call('eth_call', [{ to: scene.token, data }, 'latest']))
}

export const fullBlocks = (scene) =>
  repeat(scene, 5, () => scene.client.call('eth_getBlockByNumber', [scene.big, true]))

export const logs = async (scene) => {
  const head = Number(await scene.client.call('eth_blockNumber'))
  const filter = { fromBlock: hex(Math.max(0, head - 1000)), toBlock: hex(head), address: scene.token }
  return repeat(scene, 5, () => scene.client.call('eth_getLogs', [filter]))
}

/** Snapshot, 20 automined token transfers with receipt, revert: what a test does; cycles a second. */
export async function snapshots(scene) {
  const cycles = []
  for (let cycle = 0; cycle < 5; cycle++) {
    // A hash of its own in every cycle: some nodes remember what they have seen before a revert.
    const gasLimit = 100_000n + BigInt(++scene.cycles)
    cycles.push(await signed(scene, 2, 20, () => ({ ...erc20Zero(scene)(), gasLimit })))
    scene.nonces[2] -= 20
  }
  return repeat(scene, cycles.length, async (cycle) => {
    const id = await scene.client.call('evm_snapshot')
    for (const raw of cycles[cycle]) {
      await receiptOf(scene.client, await scene.client.call('eth_sendRawTransaction', [raw]))
    }
    if ((await scene.client.call('evm_revert', [id])) !== true)
      throw new Error(`${scene.node.name} did not revert`)
  })
}

/** A token transfer of nothing, so that an account without tokens can make it. */
const erc20Zero = (scene) => () => ({
  to: scene.token,
  gasLimit: 100_000n,
  data: tokenAbi.encodeFunctionData('transfer', [SINK, 0n]),
})

/** Gas of each heavy call as the chain's rules count it, so that the same work gives every node the same gas. */
const HEAVY = {
  arithmetic: { rounds: 40_000, gas: 5.6e6 },
  hashes: { rounds: 15_000, gas: 4.5e6 },
  storageLoads: { rounds: 12_000, gas: 4.5e6 },
  storageStores: { rounds: 900, gas: 4.7e6 },
  calls: { rounds: 3_000, gas: 3.6e6 },
}
export const HEAVY_NAMES = Object.keys(HEAVY)

/** One heavy `eth_call`; million gas a second, counted as our rules count the same work. */
export const heavy = (name) => async (scene) => {
  const { rounds, gas } = HEAVY[name]
  const data = probeAbi.encodeFunctionData(name, [rounds])
  const call = { from: wallets[0].address, to: scene.probe, data, gas: hex(29_000_000) }
  const { seconds, cpuMs } = await timed(scene, 1, () => scene.client.call('eth_call', [call, 'latest']))
  return { figure: gas / 1e6 / seconds, cpuMs }
}

/** Mines so many rounds of arithmetic; the transaction's hash. */
export async function heavyTransaction(scene, rounds) {
  const data = probeAbi.encodeFunctionData('arithmetic', [rounds])
  const [raw] = await signed(scene, 4, 1, () => ({ to: scene.probe, gasLimit: 25_000_000n, data }))
  const hash = await scene.client.call('eth_sendRawTransaction', [raw])
  await receiptOf(scene.client, hash)
  return hash
}

/** Rows that only this chain's node has. */

/** A fresh template with 1,000 pooled transactions, after the pool has moved; milliseconds. */
export async function workTemplate(scene) {
  const { client, node } = scene
  await node.automine(false)
  const raw = []
  for (let n = 0; n < 10; n++)
    for (let i = 0; i < ACCOUNTS; i++) raw.push(...(await signed(scene, i, 1, transfer)))
  const last = raw.pop()
  for (const one of raw) await client.call('eth_sendRawTransaction', [one])
  await client.call('eth_sendRawTransaction', [last])
  const result = await elapsed(scene, 1, () => client.call('mnr_getWork'))
  await client.call('evm_mine')
  await node.automine(true)
  return result
}

/** A reorganisation of ten blocks of 100 transactions each; milliseconds. */
export async function reorganisation(scene) {
  const { client, node } = scene
  await node.automine(false)
  for (let block = 0; block < 10; block++) {
    for (let i = 0; i < ACCOUNTS; i++) {
      const [raw] = await signed(scene, i, 1, transfer)
      await client.call('eth_sendRawTransaction', [raw])
    }
    await client.call('evm_mine')
  }
  const result = await elapsed(scene, 1, () => client.call('evm_reorg', [{ depth: 10 }]))
  await client.call('evm_mine')
  await node.automine(true)
  return result
}

/** Proof nodes of one receipt in a block of 1,000; milliseconds, each of another transaction. */
export async function receiptProof(scene) {
  const block = await scene.client.call('eth_getBlockByNumber', [scene.big, false])
  return elapsed(scene, 3, async () => {
    for (const index of [3, 333, 777]) {
      await scene.client.call('ext_getTransactionReceiptNodesByHash', [block.hash, block.transactions[index]])
    }
  })
}
