/** CommonJS, as most suites of Jest are compiled to; `tandem` is the global of the environment. */
const STRANGER = '0x00000000000000000000000000000000000000aa'
const call = (method, ...params) => tandem.node.request({ method, params })
const height = () => call('eth_blockNumber')
const send = () => call('eth_sendTransaction', { from: tandem.accounts[0], to: STRANGER, value: '0x1' })

beforeAll(send)
test('fails', async () => {
  await send()
  await call('evm_setAutomine', false)
  await send()
  throw new Error('this test fails')
})
for (const after of ['a failure', 'a test']) {
  test(`is clean after ${after}`, async () => {
    expect(await height()).toBe('0x1')
    await send()
    expect(await height()).toBe('0x2')
    expect(await call('eth_accounts')).toStrictEqual([...tandem.accounts])
  })
}
test('checks changes', async () => {
  const [from, to] = tandem.accounts
  const balances = { [from]: -5n, [to]: 5n }
  const transaction = { from, to, value: 5n }
  const { logs, gasUsed } = await tandem.expectChanges(transaction, { gas: 21000, balances })
  expect([logs, gasUsed]).toStrictEqual([[], 21000n])
  await expect(tandem.expectChanges(transaction, { reverts: /no reason/ })).rejects.toThrow(
    '1 expected change did not happen:\n  reverts: expected /no reason/, is success',
  )
  const [result] = await tandem.node.simulate([{ call: transaction }])
  expect(result.assetChanges).toStrictEqual([{ type: 'native', change: 'transfer', from, to, amount: 5n }])
  expect(await height()).toBe('0x1')
})
