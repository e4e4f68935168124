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
