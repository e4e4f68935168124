/** Presets: complete, well-formed defaults that explicit settings beat. */
import { describe, expect, it } from 'vitest'
import { NODE_SETTINGS, resolveNodeOptions, resolveServeOptions } from '../../src/options/options.ts'
import { PRESET_DEFAULTS, type Preset } from '../../src/options/presets.ts'
import { SERVE_SETTINGS } from '../../src/options/serve-settings.ts'
import { checkSetting, type Setting } from '../../src/options/setting.ts'
import { saying } from '../support/refusals.ts'

const SETTINGS: Readonly<Record<string, Setting<unknown, unknown>>> = { ...NODE_SETTINGS, ...SERVE_SETTINGS }
const defaults = Object.entries(PRESET_DEFAULTS).flatMap(([preset, values]) =>
  Object.entries(values).map(([key, value]) => [preset as Preset, key, value] as const),
)

describe('presets', () => {
  it.each(defaults)('%s gives %s a valid value', (_, key, value) => {
    expect(Object.keys(SETTINGS)).toContain(key)
    expect(checkSetting(SETTINGS[key] as Setting<unknown, unknown>, value, key)).toEqual(value)
  })

  it('are the reference node’s defaults when none is named', () => {
    expect(resolveNodeOptions({ preset: 'rsk' })).toEqual(resolveNodeOptions({}))
    expect(resolveNodeOptions({})).toMatchObject({
      dialect: 'rsk',
      hideRemasc: false,
      gasPrice: 0n,
      maxBatch: 50,
    })
  })

  it('allow batches as large as those of ethers when REMASC transactions are hidden', () => {
    expect(resolveNodeOptions({ hideRemasc: true }).maxBatch).toBe(100)
    expect(resolveNodeOptions({ hideRemasc: true, maxBatch: 20 }).maxBatch).toBe(20)
    expect(resolveNodeOptions({ hideRemasc: true, maxBatch: 300 }).maxBatch).toBe(300)
  })

  it('are overridden by each setting that is given', () => {
    const options = resolveNodeOptions({
      preset: 'hardhat',
      maxBatch: 7,
      hideRemasc: false,
      blockGasLimit: 1_000_000,
    })
    expect(options).toMatchObject({
      dialect: 'hardhat',
      accounts: 20,
      maxBatch: 7,
      hideRemasc: false,
      blockGasLimit: 1_000_000n,
    })
    expect(resolveServeOptions({}, { preset: 'anvil' }).cors).toEqual(['local'])
    expect(resolveServeOptions({ cors: [] }, { preset: 'anvil' }).cors).toEqual([])
  })

  it('apply only to the local chain of a node with accounts', () => {
    expect(() => resolveNodeOptions({ preset: 'anvil', chain: 'testnet' })).toThrow(
      saying(
        'Options "chain" and "preset" contradict each other: preset is for a local chain (regtest), not testnet.',
      ),
    )
    expect(() => resolveNodeOptions({ chainId: 31_337, chain: 'mainnet' })).toThrow(
      saying(
        'Options "chain" and "chainId" contradict each other: chainId is for a local chain (regtest), not mainnet.',
      ),
    )
    expect(() => resolveNodeOptions({ preset: 'hardhat', profile: 'hosted' })).toThrow(
      saying(
        'Options "profile" and "preset" contradict each other: the hosted profile has none of the accounts of hardhat.',
      ),
    )
    expect(resolveNodeOptions({ preset: 'rsk', chain: 'testnet' }).chain).toBe('testnet')
  })
})
