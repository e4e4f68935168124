/**
 * A node in process, measured by itself: the child that the rows in process start.
 * Arguments: transfer or erc20, transactions to warm up with, transactions to measure, and a folder for a chain on disk.
 * Prints the figures of one transaction as JSON.
 */
import { createNode } from '../../dist/index.js'
import { measure } from './measure.mjs'
import { ACCOUNTS, BLOCK_GAS_LIMIT, MNEMONIC } from './nodes.mjs'
import { Scene, tokenTransfer, transfer } from './scenes.mjs'

const [kind, warmUp, count, dataDir] = process.argv.slice(2)

const node = await createNode({
  accounts: ACCOUNTS,
  mnemonic: MNEMONIC,
  blockGasLimit: BLOCK_GAS_LIMIT,
  ...(dataDir !== undefined && { dataDir }),
})
const client = { call: (method, params = []) => node.request({ method, params }) }
const scene = new Scene({ name: 'tandem in process', client })
const token = await scene.deployToken()
const fields = kind === 'erc20' ? () => tokenTransfer(token) : transfer
const total = Number(warmUp) + Number(count)
// Signed before the warm-up, so that garbage of signing is collected before the measurement.
const raws = await scene.sign(0, total, fields)
await scene.sendAll(raws.slice(0, Number(warmUp)))
const work = () => scene.sendAll(raws.slice(Number(warmUp)))
process.stdout.write(JSON.stringify(await measure({ operations: Number(count), work })))
await node.close()
