import { describe, expect, it } from 'vitest'
import { NODE_SETTINGS, resolveNodeOptions, resolveServeOptions } from '../../src/options/options.ts'
import { SERVE_SETTINGS } from '../../src/options/serve-settings.ts'
import { checkSetting, type Setting } from '../../src/options/setting.ts'
import { TERMINAL_SETTINGS } from '../../src/options/terminal-settings.ts'
import { saying } from '../support/refusals.ts'

const TABLES: Readonly<Record<string, Setting<unknown, unknown>>> = {
  ...NODE_SETTINGS,
  ...SERVE_SETTINGS,
  ...TERMINAL_SETTINGS,
}

describe('options', () => {
  it('fill in the defaults of the reference node', () => {
    expect(resolveNodeOptions({})).toMatchObject({
      chain: 'regtest',
      mining: 'auto',
      wallet: true,
      accountQuota: false,
      stateOverride: true,
      callGasCap: 10_000_000n,
      gasEstimationCap: 6_800_000n,
      rpcTimeoutMs: 5000,
      maxResponseBytes: 10_485_760,
      maxBatch: 50,
      maxLogBlocks: 5000,
      maxLogs: 20_000,
      maxTraces: 10_000,
      maxTraceBytes: 268_435_456,
      maxTraceAnswer: 2_147_483_648,
      dataDir: undefined,
    })
    expect(resolveServeOptions({})).toMatchObject({
      host: '127.0.0.1',
      port: 4444,
      unsafeOpen: false,
      apiKeys: undefined,
      maxSocketsPerKey: 100,
      redis: undefined,
      trustedProxies: [],
      cors: [],
      hosts: [],
      maxBodyBytes: 5_242_880,
    })
  })

  it('have the defaults of the hosted service in its profile', () => {
    const hosted = { maxLogs: 10_000, maxLogBlocks: 2000, maxTraces: 100, maxTraceBlocks: 2000 }
    expect(resolveNodeOptions({ profile: 'hosted' })).toMatchObject(hosted)
    for (const name of ['maxLogs', 'maxLogBlocks', 'maxTraces', 'maxTraceBlocks'] as const) {
      expect(resolveNodeOptions({ profile: 'hosted', [name]: 77 })).toMatchObject({ ...hosted, [name]: 77 })
    }
    expect(resolveNodeOptions({ profile: 'node' }).maxTraceBlocks).toBe(0)
  })

  it('accept gas and wei as bigint, number or text', () => {
    for (const given of [8_000_000n, 8_000_000, '8000000', '0x7a1200']) {
      expect(resolveNodeOptions({ blockGasLimit: given }).blockGasLimit).toBe(8_000_000n)
    }
  })

  it('convert addresses to lower case', () => {
    expect(resolveNodeOptions({ coinbase: `0x${'AB'.repeat(20)}` }).coinbase).toBe(`0x${'ab'.repeat(20)}`)
  })

  it.each([
    [{ mining: 0 }, 'Option "mining" expects auto, manual or seconds from 0.001 to 2147483, not 0.'],
    [
      { mining: 1e9 },
      'Option "mining" expects auto, manual or seconds from 0.001 to 2147483, not 1000000000.',
    ],
    [{ accounts: -1 }, 'Option "accounts" expects a whole number from 0 to 10000, not -1.'],
    [{ accounts: 1.5 }, 'Option "accounts" expects a whole number from 0 to 10000, not 1.5.'],
    [
      { blockGasLimit: 0n },
      'Option "blockGasLimit" expects a whole number from 1 to 2^53 - 1, decimal or hex with 0x, not 0n.',
    ],
    [
      { blockGasLimit: 2n ** 53n },
      'Option "blockGasLimit" expects a whole number from 1 to 2^53 - 1, decimal or hex with 0x, not 9007199254740992n.',
    ],
    [
      { callGasCap: 2n ** 53n },
      'Option "callGasCap" expects a whole number from 0 to 2^53 - 1, decimal or hex with 0x, not 9007199254740992n.',
    ],
    [
      { gasEstimationCap: 2n ** 53n },
      'Option "gasEstimationCap" expects a whole number from 0 to 2^53 - 1, decimal or hex with 0x, not 9007199254740992n.',
    ],
    [
      { minGasPrice: '12 wei' },
      'Option "minGasPrice" expects a whole number from 0 to 2^127 - 1, decimal or hex with 0x, not "12 wei".',
    ],
    [
      { minGasPrice: Number.NaN },
      'Option "minGasPrice" expects a whole number from 0 to 2^127 - 1, decimal or hex with 0x, not NaN.',
    ],
    [{ mnemonic: 'too short' }, 'Option "mnemonic" expects 12, 15, 18, 21 or 24 words.'],
    [{ coinbase: '0x12' }, 'Option "coinbase" expects an address of 20 bytes in hex, with 0x, not "0x12".'],
    [
      { methods: ['eth*'] },
      `Option "methods" expects names such as eth, evm_mine, -evm to close or +txpool to add one, not [ 'eth*' ].`,
    ],
    [{ dataDir: '' }, 'Option "dataDir" expects a text, not "".'],
    [
      { methodTimeouts: { eth_call: -1 } },
      'Option "methodTimeouts" expects milliseconds by method or namespace, such as eth_call=2000, not { eth_call: -1 }.',
    ],
    [
      { methodTimeouts: JSON.parse('{"__proto__x":1}') },
      'Option "methodTimeouts" expects milliseconds by method or namespace, such as eth_call=2000, not { __proto__x: 1 }.',
    ],
    [{ memory: true, dataDir: 'x' }, 'Options "memory" and "dataDir" contradict each other.'],
    [{ now: () => 0, frozenClock: true }, 'Options "now" and "frozenClock" contradict each other.'],
    [
      { chain: 'testnet' as const, frozenClock: true },
      'Options "chain" and "frozenClock" contradict each other: frozenClock is for a local chain (regtest), not testnet.',
    ],
    [{ frozenClock: -1 }, 'Option "frozenClock" expects true, false, or whole seconds since 1970, not -1.'],
    [
      { wallet: false, accounts: 3 },
      'Options "wallet" and "accounts" contradict each other: without a wallet there are no keys.',
    ],
  ])('refuse %o', (options, message) => {
    expect(() => resolveNodeOptions(options)).toThrow(saying(message))
  })

  it.each(['0.0.0.0', '::', '192.168.0.7', 'node.example'])(
    'refuse to listen on %s without keys, with the reason',
    (host) => {
      expect(() => resolveServeOptions({ host })).toThrow(
        saying(
          `Listening on ${host}, beyond this machine, without keys needs the option "unsafeOpen" (--unsafe-open): anyone who reaches the port could use the accounts, move the chain and read everything.`,
        ),
      )
      expect(resolveServeOptions({ host, unsafeOpen: true }).host).toBe(host)
    },
  )

  it('require keys, or unsafeOpen, to serve a hosted node', () => {
    expect(() => resolveServeOptions({}, { profile: 'hosted' })).toThrow(
      saying(
        'The hosted profile asks every caller for a key: name a key file (--api-keys), or set --unsafe-open.',
      ),
    )
    expect(resolveServeOptions({ apiKeys: 'keys.json' }, { profile: 'hosted' }).apiKeys).toBe('keys.json')
    expect(resolveServeOptions({ unsafeOpen: true }, { profile: 'hosted' }).unsafeOpen).toBe(true)
    expect(resolveServeOptions({}, { profile: 'node' }).unsafeOpen).toBe(false)
  })

  it.each([
    [
      { tlsCert: 'a.pem' },
      'Options "tlsCert" and "tlsKey" go together: a certificate is of no use without its key.',
    ],
    [{ metricsHost: '0.0.0.0' }, 'Option "metricsHost" has no effect without the option "metricsPort".'],
    [
      { trustedProxies: ['proxy.example'] },
      'Option "trustedProxies" expects IP addresses, or ranges such as 10.0.0.0/8, not [ \'proxy.example\' ].',
    ],
    [{ maxSockets: 0 }, 'Option "maxSockets" expects a whole number from 1 to 1000000, not 0.'],
  ])('of a server are refused: %o', (options, message) => {
    expect(() => resolveServeOptions(options)).toThrow(saying(message))
  })

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('listen on %s without keys', (host) => {
    expect(resolveServeOptions({ host }).host).toBe(host)
  })

  it('listen beyond this machine when keys are required', () => {
    expect(resolveServeOptions({ host: '0.0.0.0', apiKeys: 'keys.json' }).host).toBe('0.0.0.0')
  })

  it('refuse Redis without keys, and never show its password', () => {
    const redis = 'redis://:hunter2@127.0.0.1:6379'
    expect(() => resolveServeOptions({ redis })).toThrow(
      saying('Option "redis" counts the limits of keys, and there are none without the option "apiKeys".'),
    )
    expect(() => resolveServeOptions({ redis: 'http://:hunter2@x', apiKeys: 'k' })).toThrow(
      saying(
        'Option "redis" expects a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6379/0.',
      ),
    )
    expect(resolveServeOptions({ redis, apiKeys: 'k' }).redis).toBe(redis)
  })

  it('never show a refused mnemonic', () => {
    expect(() => resolveNodeOptions({ mnemonic: 'zebra zebra' })).not.toThrow('zebra')
  })

  it('refuse an unknown name, inherited ones too', () => {
    expect(() => resolveNodeOptions({ minning: 'auto' } as object)).toThrow(
      saying('There is no option "minning".'),
    )
    expect(() => resolveServeOptions({ toString: 1 } as object)).toThrow(
      saying('There is no option "toString".'),
    )
  })

  it('have a default that passes their own check', () => {
    for (const [name, setting] of Object.entries(TABLES)) {
      for (const value of [setting.fallback, setting.hosted]) {
        if (value !== undefined) expect(checkSetting(setting, value, name)).toEqual(value)
      }
    }
  })

  it('have one flag each, and at most one option for each key of the reference node', () => {
    const flags = Object.values(TABLES).map(({ flag }) => flag.split(' ')[0])
    const keys = Object.values(TABLES).flatMap(({ rskjKeys }) => Object.keys(rskjKeys ?? {}))
    expect(new Set(flags).size).toBe(flags.length)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
