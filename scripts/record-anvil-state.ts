/**
 * Records a dump of Anvil and its own answers about the accounts in it: `npm run record:anvil`, after
 * `npm ci --prefix scripts/bench`, or with the binary in ANVIL_PATH. Writes fixtures/state-files/anvil.json.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { startAnvil } from '../test/support/anvil-frames.ts'

const PACKAGED = 'scripts/bench/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil'
const path = process.env.ANVIL_PATH ?? PACKAGED

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const EDITED = `0x${'ed'.repeat(20)}`
const SLOTS = ['0x0', `0x${'f'.repeat(64)}`]
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).split('\n').slice(0, 2).join(', ')
const { call, close } = await startAnvil(path)
// Stores 42 in slot 0 and leaves the code 00.
const hash = await call('eth_sendTransaction', [
  { from: SENDER, data: '0x602a60005560016000f3', gas: '0x30d40', gasPrice: '0x77359400' },
])
type Receipt = { readonly contractAddress: string } | null
let receipt = (await call('eth_getTransactionReceipt', [hash])) as Receipt
while (receipt === null) receipt = (await call('eth_getTransactionReceipt', [hash])) as Receipt
const contract = receipt.contractAddress
await call('anvil_setStorageAt', [contract, SLOTS[1], word('abcdef')])
await call('anvil_setBalance', [EDITED, '0x1234567890abcdef1234'])
await call('anvil_setNonce', [EDITED, '0x7'])
await call('anvil_setCode', [EDITED, `0x6001${'00'.repeat(40)}`])

const accounts: Record<string, object> = {}
for (const address of [SENDER, contract, EDITED]) {
  const of = (method: string, ...more: unknown[]) => call(method, [address, ...more, 'latest'])
  const storage: Record<string, unknown> = {}
  for (const slot of SLOTS) storage[slot] = await of('eth_getStorageAt', slot)
  accounts[address] = {
    balance: await of('eth_getBalance'),
    nonce: await of('eth_getTransactionCount'),
    code: await of('eth_getCode'),
    storage,
  }
}
const dump = await call('anvil_dumpState', [])
await close()
writeFileSync('fixtures/state-files/anvil.json', `${JSON.stringify({ version, accounts, dump }, null, 2)}\n`)
