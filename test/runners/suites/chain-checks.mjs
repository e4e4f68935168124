/** What the suites of all runners do to their chains. */
import assert from 'node:assert/strict'

const call = (node, method, ...params) => node.request({ method, params })
const STRANGER = '0x00000000000000000000000000000000000000aa'

/** One block before all tests of a file. */
export async function prepare(node, [from]) {
  await call(node, 'eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
}

/** Changes all that a test can change, and fails. */
export async function spoilAndFail(node, [from, to]) {
  await call(node, 'eth_sendTransaction', { from, to, value: '0x1' })
  await call(node, 'evm_increaseTime', 1000)
  await call(node, 'evm_mine')
  await call(node, 'hardhat_setBalance', STRANGER, '0x99')
  await call(node, 'hardhat_impersonateAccount', STRANGER)
  await call(node, 'evm_setAutomine', false)
  await call(node, 'eth_sendTransaction', { from, to, value: '0x1' })
  throw new Error('this test fails')
}

/** Refuses what is left of another test. */
export async function checkClean(node, [from]) {
  assert.equal(await call(node, 'eth_blockNumber'), '0x1')
  assert.equal(await call(node, 'eth_getBalance', STRANGER, 'latest'), '0x1')
  assert.equal(await call(node, 'eth_getTransactionCount', from, 'pending'), '0x1')
  await assert.rejects(call(node, 'eth_sendTransaction', { from: STRANGER, to: from }))
  // Automining is on again.
  await call(node, 'eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
  assert.equal(await call(node, 'eth_blockNumber'), '0x2')
}

/** What a transaction would change, with an expectation that holds and one that does not. */
export async function checkChanges({ node, accounts: [from, to], expectChanges }) {
  const transaction = { from, to, value: 5n }
  const { gasUsed } = await expectChanges(transaction, { gas: 21000, balances: { [from]: -5n, [to]: 5n } })
  assert.equal(gasUsed, 21000n)
  const refusal = await expectChanges(transaction, { balances: { [to]: 6n } }).catch((error) => error)
  assert.equal(refusal.name, 'AssertionError')
  assert.equal(refusal.message, `1 expected change did not happen:\n  balances.${to}.by: expected 6, is 5`)
  assert.equal(await call(node, 'eth_getTransactionCount', from, 'pending'), '0x1')
}
