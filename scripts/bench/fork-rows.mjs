/** The work of `npm run bench:fork`: contracts on the upstream, and what is run against them on a fork. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Interface } from 'ethers'

const token = JSON.parse(readFileSync(new URL('../../fixtures/contracts/Token.json', import.meta.url)))
const tokenAbi = new Interface(token.abi)
/**
 * Follows the linked lists that begin at the slots of the call data, and returns how many slots they have together: each
 * slot holds the next one, 0 ends a list.
 */
const LISTS =
  '0x610033600e6000396100336000f3600060005b803611156100295780355b80156100205754916001019161000f565b50602001610004565b5060005260206000f3'
/** Slots from the begin of a list to that of the next. */
const LIST_DISTANCE = 1000

const word = (value) => BigInt(value).toString(16).padStart(64, '0')
const quantity = (value) => `0x${BigInt(value).toString(16)}`
const OPTIONS = { gas: quantity(3_000_000), gasPrice: quantity(3_000_000_000) }

async function send(client, fields) {
  const hash = await client.call('eth_sendTransaction', [{ ...OPTIONS, ...fields }])
  // Some nodes answer before they mine.
  for (;;) {
    const receipt = await client.call('eth_getTransactionReceipt', [hash])
    if (receipt === null) continue
    assert.equal(receipt.status, '0x1')
    return receipt
  }
}

/** Where the contracts and lists of a chain are. */
export async function deployContracts(client) {
  const [from] = await client.call('eth_accounts')
  const create = async (data) => (await send(client, { from, data })).contractAddress
  const address = await create(token.bytecode + tokenAbi.encodeDeploy([10n ** 24n]).slice(2))
  const lists = await create(LISTS)
  const link = async (first, length) => {
    for (let slot = first; slot < first + length - 1; slot++) {
      await client.call('hardhat_setStorageAt', [lists, quantity(slot), `0x${word(slot + 1)}`])
    }
  }
  for (let list = 1; list <= 12; list++) await link(list * LIST_DISTANCE, 5)
  await link(13 * LIST_DISTANCE, 60)
  await client.call('evm_mine')
  return { token: address, lists }
}

const recipient = (number) => `0x${(0xa11ce000n + BigInt(number)).toString(16).padStart(40, '0')}`
const transfer = (number, amount = 1n) => tokenAbi.encodeFunctionData('transfer', [recipient(number), amount])

/** A token transfer with its receipt. */
export async function sendTransfer(client, { token: to }) {
  const [from] = await client.call('eth_accounts')
  await send(client, { from, to, data: transfer(0) })
}

/** A call over so many lists of so many slots each. */
export function walkLists(count, length) {
  const first = length === 60 ? 13 : 1
  const heads = Array.from({ length: count }, (_, index) => word((first + index) * LIST_DISTANCE))
  return async (client, { lists }) => {
    const output = await client.call('eth_call', [{ to: lists, data: `0x${heads.join('')}` }, 'latest'])
    assert.equal(BigInt(output), BigInt(count * length))
  }
}

const TESTS = 30
const TRANSACTIONS = 10
export const SUITE_SIZE = TESTS * TRANSACTIONS

/** Tests as those of contracts: each on a snapshot, with transfers, approvals and new accounts, and calls after each. */
export async function suite(client, { token: to }) {
  const accounts = await client.call('eth_accounts')
  const [owner] = accounts
  for (let test = 0; test < TESTS; test++) {
    const snapshot = await client.call('evm_snapshot')
    for (let i = 0; i < TRANSACTIONS; i++) {
      const number = test * TRANSACTIONS + i
      const other = accounts[1 + (number % 9)]
      const steps = [
        { from: owner, to, data: transfer(number, 5n) },
        { from: owner, to, data: tokenAbi.encodeFunctionData('approve', [other, BigInt(number + 1)]) },
        { from: other, to: recipient(number), value: '0x1' },
        { from: owner, to, data: tokenAbi.encodeFunctionData('mint', [other, 7n]) },
      ]
      await send(client, steps[i % steps.length])
      const data = tokenAbi.encodeFunctionData('balanceOf', [recipient(number)])
      await client.call('eth_call', [{ to, data }, 'latest'])
    }
    await client.call('evm_revert', [snapshot])
  }
}
