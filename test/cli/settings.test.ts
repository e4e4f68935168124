import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSettings, SETTINGS, type TypedFlags, variableOf } from '../../src/cli/settings.ts'
import { saying } from '../support/refusals.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'settings-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const flags = (given: Record<string, string | true> = {}): TypedFlags => new Map(Object.entries(given))

/** A configuration file of this content, as the flag that names it. */
function config(content: unknown): { config: string } {
  const file = join(dir, 'config.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return { config: file }
}

/** Of the timeouts of methods. */
const EXPECTS = 'expects milliseconds by method or namespace, such as eth_call=2000'
const fromFile = (content: unknown) => readSettings(flags(config(content)), {})

describe('the settings of the command', () => {
  it('keep the chain in .tandem by default', () => {
    expect(readSettings(flags(), {}).node.dataDir).toBe('.tandem/regtest')
    expect(readSettings(flags({ chain: 'testnet' }), {}).node.dataDir).toBe('.tandem/testnet')
    expect(readSettings(flags({ memory: true }), {}).node.dataDir).toBeUndefined()
  })

  it('require keys in the hosted profile, unless it is declared open', () => {
    expect(() => readSettings(flags({ profile: 'hosted' }), {})).toThrow(
      'The hosted profile asks every caller for a key: name a key file (--api-keys), or set --unsafe-open.',
    )
    const keys = readSettings(flags({ profile: 'hosted' }), { TANDEM_API_KEYS: 'keys.json' })
    expect(keys.serve.apiKeys).toBe('keys.json')
    expect(readSettings(flags({ profile: 'hosted', 'unsafe-open': true }), {}).serve.unsafeOpen).toBe(true)
  })

  it('turn the explorer off and on by flags, the environment and the file', () => {
    expect(readSettings(flags(), {}).serve.ui).toBeUndefined()
    expect(readSettings(flags({ 'no-ui': true }), {}).serve.ui).toBe(false)
    expect(readSettings(flags({ ui: true }), { TANDEM_NO_UI: 'true' }).serve.ui).toBe(true)
    expect(readSettings(flags(), { TANDEM_NO_UI: 'true' }).serve.ui).toBe(false)
    expect(fromFile({ ui: false }).serve.ui).toBe(false)
  })

  it('refuse combinations that contradict each other', () => {
    const hosted = { profile: 'hosted', 'unsafe-open': true } as const
    expect(() => readSettings(flags({ ...hosted, accounts: '3' }), {})).toThrow(
      '"profile" and "accounts" contradict',
    )
    expect(() => readSettings(flags({ redis: 'redis://127.0.0.1:6379' }), {})).toThrow(
      'Option "redis" counts',
    )
  })

  it('prefer a flag over the environment, and the environment over the file', () => {
    const file = config({ port: 1, maxBatch: 1, accounts: 1 })
    const settings = readSettings(flags({ ...file, port: '3' }), { TANDEM_PORT: '2', TANDEM_MAX_BATCH: '2' })
    expect([settings.serve.port, settings.node.maxBatch, settings.node.accounts]).toEqual([3, 2, 1])
  })

  it('read every kind of value from text', () => {
    const { node, serve, terminal } = readSettings(
      flags({
        mining: '2.5',
        'no-wallet': true,
        'no-state-override': true,
        'min-gas-price': '0x10',
        'block-gas-limit': '8000000',
        methods: 'eth,net -eth_sign',
        cors: 'http://a:1 https://b',
        'mined-reverts': 'hash',
        'strict-calls': true,
        'rpc-timeout': '100',
        'log-level': 'warn',
        quiet: true,
      }),
      {},
    )
    expect(node).toMatchObject({
      mining: 2.5,
      wallet: false,
      stateOverride: false,
      minGasPrice: 16n,
      blockGasLimit: 8_000_000n,
      methods: ['eth', 'net', '-eth_sign'],
      minedReverts: 'hash',
      strictCalls: true,
      rpcTimeoutMs: 100,
    })
    expect(serve.cors).toEqual(['http://a:1', 'https://b'])
    expect(terminal).toEqual({ logLevel: 'warn', quiet: true, json: false })
  })

  it('have an environment variable for each flag', () => {
    const variables = Object.values(SETTINGS).map(({ flag }) => variableOf(flag))
    expect(variables).toContain('TANDEM_DATA_DIR')
    expect(variables).toContain('TANDEM_NO_STATE_OVERRIDE')
    const env = { TANDEM_MEMORY: '1', TANDEM_NO_WALLET: 'TRUE', TANDEM_STRICT_CALLS: 'false', PATH: 'x' }
    expect(readSettings(flags(), env).node).toMatchObject({ memory: true, wallet: false, strictCalls: false })
    expect(readSettings(flags(), { TANDEM_NO_WALLET: 'false' }).node.wallet).toBe(true)
    // tandem exec gives it to the command that it runs.
    expect(readSettings(flags(), { TANDEM_URL: 'http://127.0.0.1:1' })).toEqual(readSettings(flags(), {}))
  })

  it('treat an empty variable as unset', () => {
    expect(readSettings(flags(), { TANDEM_PORT: '', TANDEM_CONFIG: '' }).serve.port).toBeUndefined()
  })

  it('read the name of the file from the environment too', () => {
    const { config: file } = config({ port: 5 })
    expect(readSettings(flags(), { TANDEM_CONFIG: file }).serve.port).toBe(5)
  })

  it('choose between memory and a directory by the stronger source', () => {
    const file = config({ dataDir: 'x' })
    expect(readSettings(flags(file), { TANDEM_MEMORY: 'true' }).node).toMatchObject({
      memory: true,
      dataDir: undefined,
    })
    expect(readSettings(flags({ 'data-dir': 'y' }), { TANDEM_MEMORY: 'true' }).node).toMatchObject({
      dataDir: 'y',
    })
    expect(() => readSettings(flags({ memory: true, 'data-dir': 'y' }), {})).toThrow(
      saying('Options "memory" and "dataDir" contradict each other.'),
    )
  })

  it("understand the reference node's keys, nested or with dots", () => {
    const { node, serve } = fromFile({
      rpc: {
        callGasCap: 1,
        gasEstimationCap: 2,
        allowCallStateOverride: false,
        timeout: 3,
        maxResponseSize: 4,
        logs: { maxBlocksToQuery: 5, maxLogsToReturn: 6 },
        'providers.web': {
          max_batch_requests_size: 7,
          cors: 'localhost',
          http: { port: 8, bind_address: '::1' },
        },
      },
      'miner.minGasPrice': 9,
      wallet: { enabled: false },
      'transaction.accountTxRateLimit': { enabled: true },
      miner: { client: { autoMine: false } },
    })
    expect(node).toMatchObject({
      callGasCap: 1n,
      gasEstimationCap: 2n,
      stateOverride: false,
      rpcTimeoutMs: 3,
      maxResponseBytes: 4,
      maxLogBlocks: 5,
      maxLogs: 6,
      maxBatch: 7,
      minGasPrice: 9n,
      wallet: false,
      accountQuota: true,
      mining: 'manual',
    })
    expect(serve).toMatchObject({ port: 8, host: '::1', cors: [] })
    expect(fromFile({ 'miner.client.autoMine': true }).node.mining).toBe('auto')
  })

  it.each([
    [{ 'rpc.trace': { x: 1 } }, 'There is no setting "rpc.trace.x", which '],
    [{ prot: 1 }, 'There is no setting "prot", which '],
    [{ toString: 1 }, 'There is no setting "toString", which '],
    [{ port: '1' }, /^"port" in .*config.json expects a whole number from 0 to 65535, not "1"\.$/],
    [{ 'miner.client.autoMine': 'yes' }, '"miner.client.autoMine" in '],
    [
      { wallet: true, 'wallet.enabled': true },
      'gives the setting "wallet" twice, again as "wallet.enabled".',
    ],
    [[], 'does not hold a JSON object.'],
    ['{', 'is not JSON.'],
  ])('refuse a file with %o', (content, message) => {
    expect(() => fromFile(content)).toThrow(message)
  })

  it('collect the timeouts of methods from text, from an object, and from the keys of the reference node', () => {
    const timeouts = { eth_call: 2000, trace: 10_000 }
    expect(readSettings(flags({ 'method-timeouts': 'eth_call=2000, trace=10000' }), {}).node).toMatchObject({
      methodTimeouts: timeouts,
    })
    expect(fromFile({ methodTimeouts: timeouts }).node.methodTimeouts).toEqual(timeouts)
    const modules = { eth: { methods: { timeout: { call: 2000 } } }, trace: { timeout: 10_000 } }
    expect(fromFile({ rpc: { modules } }).node.methodTimeouts).toEqual(timeouts)
    expect(() => fromFile({ methodTimeouts: { eth_call: 'soon' } })).toThrow(
      saying(`"methodTimeouts" in ${join(dir, 'config.json')} ${EXPECTS}, not { eth_call: 'soon' }.`),
    )
    const shown = (text: string) => (text === 'eth_call=-1' ? "{ eth_call: '-1' }" : `"${text}"`)
    for (const text of ['eth_call', 'eth_call=', '=1', 'eth_call=1=2', 'eth call=1', 'eth_call=-1']) {
      expect(() => readSettings(flags({ 'method-timeouts': text }), {}), text).toThrow(
        saying(`--method-timeouts ${EXPECTS}, not ${shown(text)}.`),
      )
    }
  })

  it('name the variable, flag or file at fault', () => {
    const refusal = (typed: Record<string, string | true>, env: Record<string, string> = {}) => {
      expect(() => readSettings(flags(typed), env)).toThrow(
        expect.objectContaining({ kind: 'invalid-options' }),
      )
      return expect(() => readSettings(flags(typed), env))
    }
    refusal({}, { TANDEM_PRT: '1' }).toThrow(
      saying('There is no setting for the environment variable TANDEM_PRT.'),
    )
    refusal({}, { TANDEM_MEMORY: 'perhaps' }).toThrow(
      saying('TANDEM_MEMORY expects true or false, not "perhaps".'),
    )
    refusal({ mining: 'never' }).toThrow(
      '--mining expects auto, manual or seconds from 0.001 to 2147483, not "never".',
    )
    refusal({ config: join(dir, 'none.json') }).toThrow(
      /^Cannot read the configuration file .*: there is no such file\.$/,
    )
  })
})
