/** Rows of features that only Tandem has: work for miners, reorganisations on request, proofs of receipts, an index of traces. */
import { ACCOUNTS } from '../nodes.mjs'
import { SPARSE_LOGS, transfer } from '../scenes.mjs'
import { bigBlockOf, manyTransfers } from './blocks.mjs'

const nodes = ['tandem']

/** Transfers of all accounts, one each. */
async function oneEach(scene) {
  for (let i = 0; i < ACCOUNTS; i++) {
    const [raw] = await scene.sign(i, 1, transfer)
    await scene.client.call('eth_sendRawTransaction', [raw])
  }
}

const template = {
  name: 'work-template',
  title: 'mnr_getWork with 1,000 pooled transactions, after the pool has changed, warm',
  operation: 'request',
  chain: 'warm',
  nodes,
  async sample(scene) {
    await scene.node.automine(false)
    for (const raw of await manyTransfers(scene)) await scene.client.call('eth_sendRawTransaction', [raw])
    async function check() {
      await scene.client.call('evm_mine')
      await scene.node.automine(true)
    }
    return { operations: 1, work: () => scene.client.call('mnr_getWork'), check }
  },
}

const reorganisation = {
  name: 'reorganisation',
  title: 'evm_reorg of 10 blocks with 100 transactions each, warm',
  operation: 'request',
  chain: 'warm',
  nodes,
  async sample(scene) {
    await scene.node.automine(false)
    for (let block = 0; block < 10; block++) {
      await oneEach(scene)
      await scene.client.call('evm_mine')
    }
    async function check() {
      await scene.client.call('evm_mine')
      await scene.node.automine(true)
    }
    return { operations: 1, work: () => scene.client.call('evm_reorg', [{ depth: 10 }]), check }
  },
}

const receiptProof = {
  name: 'receipt-proof',
  title: 'ext_getTransactionReceiptNodesByHash of a receipt in a block of 1,000, warm',
  operation: 'request',
  chain: 'warm',
  nodes,
  async sample(scene) {
    const { hash, transactions } = await bigBlockOf(scene)
    async function work() {
      for (const index of [3, 333, 777]) {
        await scene.client.call('ext_getTransactionReceiptNodesByHash', [hash, transactions[index]])
      }
    }
    return { operations: 3, work }
  },
}

const traceFilter = {
  name: 'trace-filter',
  title: `trace_filter of one contract with ${SPARSE_LOGS} calls in a long chain`,
  operation: 'request',
  chain: 'long',
  nodes,
  async sample({ client, rareToken, firstBlock, node }) {
    const fromBlock = `0x${firstBlock.toString(16)}`
    async function work() {
      const found = await client.call('trace_filter', [
        { fromBlock, toBlock: 'latest', toAddress: [rareToken] },
      ])
      if (found.length !== SPARSE_LOGS) throw new Error(`${node.name} found ${found.length}`)
    }
    return { operations: 1, work }
  },
}

/** `receipt-proof` is first, since a reorganisation removes blocks of earlier rows. */
export const TANDEM_ROWS = [receiptProof, template, reorganisation, traceFilter]
