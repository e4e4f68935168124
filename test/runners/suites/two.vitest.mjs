import { test } from 'tandem/vitest'
import { expect } from 'vitest'
import { checkChanges, checkClean, prepare, spoilAndFail } from './chain-checks.mjs'

test.beforeAll(({ node, accounts }) => prepare(node, accounts))
const nonceOf = (node, address) =>
  node.request({ method: 'eth_getTransactionCount', params: [address, 'latest'] })
test.beforeEach(async ({ node, accounts: [, second] }) => {
  const next = Number(await nonceOf(node, second)) + 1
  await node.request({ method: 'hardhat_setNonce', params: [second, `0x${next.toString(16)}`] })
})

test('fails', ({ node, accounts }) => spoilAndFail(node, accounts))
test('is clean after a failure', ({ node, accounts }) => checkClean(node, accounts))
test('is clean after a test', ({ node, accounts }) => checkClean(node, accounts))
test('is served at its url', async ({ url, node }) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] })
  await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x2')
})
test('ends with what its hooks did', async ({ node, accounts }) => {
  expect(await nonceOf(node, accounts[1])).toBe('0x1')
  // The snapshot that the first test began with.
  expect(await node.request({ method: 'evm_revert', params: ['0x1'] })).toBe(true)
})
test('is clean after a revert to an earlier test', ({ node, accounts }) => checkClean(node, accounts))
test('checks changes', ({ node, accounts, expectChanges }) => checkChanges({ node, accounts, expectChanges }))
