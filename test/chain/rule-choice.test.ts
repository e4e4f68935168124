/** Rules by name: heights of the networks come from the reference node's settings (fixtures/chain/activation-heights.json). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import heights from '../../fixtures/chain/activation-heights.json' with { type: 'json' }
import { CHAINS, withRules } from '../../src/chain/config.ts'
import { DRAFT_RULES, RULE_NAMES, type RuleHeights } from '../../src/chain/consensus-rules.ts'
import { changedHeights, changesIn, changesOf, chosenHeights } from '../../src/chain/rule-choice.ts'
import { describeChanges } from '../../src/chain/rule-table.ts'
import { NETWORKS, RULE_HEIGHTS } from '../../src/chain/shipped-networks.ts'
import { saying } from '../support/refusals.ts'

const regtest = (choice: Parameters<typeof chosenHeights>[1], first?: number) =>
  chosenHeights(RULE_HEIGHTS.regtest, choice, first)
const holding = (found: RuleHeights) => RULE_NAMES.filter((rule) => found[rule] !== undefined)

describe('rules of a chain', () => {
  it('are those of its network where nothing is chosen', () => {
    expect(regtest({})).toBe(RULE_HEIGHTS.regtest)
    expect(regtest({ rules: 'tbd1000', activate: ['rskip535@1'] })).toBe(RULE_HEIGHTS.regtest)
    expect(changesIn(CHAINS.mainnet)).toBeUndefined()
  })

  it('are those up to an upgrade, as the local network has them', () => {
    const vetiver = regtest({ rules: 'VETIVER900' })
    expect(vetiver).toMatchObject({ rskip559: undefined, rskip535: undefined, rskip544: 0, rskip351: 1 })
    expect(chosenHeights(RULE_HEIGHTS.mainnet, { rules: 'vetiver900' })).toEqual(vetiver)
    // Each upgrade adds exactly the rules that a network without heights of its own has from its height on.
    const { mainnet } = heights
    for (const [name, at] of [
      ['iris300', 3_614_800],
      ['arrowhead600', 6_223_700],
      ['lovell700', 7_338_024],
    ] as const) {
      const upTo = Object.entries(mainnet).filter(([, height]) => height >= 0 && height <= at)
      const local = upTo
        .map(([rule]) => rule)
        .filter((rule) => heights.regtest[rule as keyof typeof mainnet] >= 0)
        .toSorted()
      expect(holding(regtest({ rules: name })).toSorted()).toEqual(local)
    }
  })

  it('next has all that the local network knows, and the drafts', () => {
    const drafts = Object.fromEntries(DRAFT_RULES.map((rule) => [rule, 0]))
    expect(regtest({ rules: 'next' })).toEqual({ ...RULE_HEIGHTS.regtest, ...drafts })
    expect(chosenHeights(RULE_HEIGHTS.testnet, { rules: 'next' })).toEqual(regtest({ rules: 'next' }))
    for (const rule of DRAFT_RULES) expect(RULE_HEIGHTS.regtest[rule]).toBeUndefined()
  })

  it('bring the rules that they need, and take those that need them', () => {
    const own = chosenHeights(RULE_HEIGHTS.mainnet, {})
    expect(regtest({ activate: ['rskip546@7'] })).toEqual({
      ...RULE_HEIGHTS.regtest,
      rskip543: 7,
      rskip546: 7,
    })
    expect(chosenHeights(RULE_HEIGHTS.mainnet, { activate: ['rskip545@9', 'rskip546@4'] })).toEqual({
      ...own,
      rskip543: 4,
      rskip544: 9,
      rskip545: 9,
      rskip546: 4,
    })
    expect(regtest({ rules: 'next', deactivate: ['rskip543'] })).toEqual(RULE_HEIGHTS.regtest)
    expect(() => regtest({ rules: { rskip546: 3 } })).toThrow(
      saying('rskip546 cannot hold without rskip543.'),
    )
    expect(() => regtest({ rules: { rskip546: 3, rskip543: 4 } })).toThrow('rskip546 cannot hold')
  })

  it('take heights by rule and by upgrade', () => {
    const rules = { rskip398: 7, tbd1000: null }
    expect(regtest({ rules })).toEqual({ ...RULE_HEIGHTS.regtest, rskip398: 7, rskip559: undefined })
    expect(regtest({ activate: ['RSKIP559@12'], deactivate: ['rskip398'] })).toEqual({
      ...RULE_HEIGHTS.regtest,
      rskip559: 12,
      rskip398: undefined,
    })
    expect(chosenHeights(RULE_HEIGHTS.testnet, { activate: ['tbd1000'] }).rskip559).toBe(0)
  })

  it('refuse names that are not known, with the nearest, and bad heights', () => {
    expect(() => regtest({ activate: ['rskip5599'] })).toThrow(
      saying('"rskip5599" is no rule or upgrade that this version knows; the nearest is rskip559.'),
    )
    expect(() => regtest({ rules: 'vetiver90' })).toThrow(
      saying('"vetiver90" is no rule or upgrade that this version knows; the nearest is vetiver900.'),
    )
    expect(() => regtest({ rules: { __proto__x: 1 } })).toThrow('"__proto__x" is')
    expect(() => regtest({ deactivate: ['constructor'] })).toThrow('"constructor" is no rule')
    expect(() => regtest({ rules: { rskip559: 2 ** 31 } })).toThrow(
      saying('rskip559: 2147483648 is above 2147483647, the highest block.'),
    )
    for (const text of ['rskip559@', 'rskip559@x', 'rskip559@1@2', 'rskip559@4294967296']) {
      expect(() => regtest({ activate: [text] })).toThrow(`${JSON.stringify(text)} is not a name`)
    }
  })

  it('of a name begin on a fork with its own first block where the upstream lacks them', () => {
    const next = chosenHeights(RULE_HEIGHTS.mainnet, { rules: 'next' }, 9_000_001)
    expect(next).toMatchObject({ rskip546: 9_000_001, rskip559: 9_000_001, rskip398: 6_223_700 })
    expect(() => chosenHeights(RULE_HEIGHTS.mainnet, { rules: 'reed800' }, 9_000_001)).toThrow(
      'would change in a block of the upstream',
    )
  })

  it('change on a fork from its own first block on', () => {
    expect(chosenHeights(RULE_HEIGHTS.mainnet, { activate: ['tbd1000'] }, 9_000_001).rskip559).toBe(9_000_001)
    expect(() => chosenHeights(RULE_HEIGHTS.mainnet, { deactivate: ['rskip398'] }, 9_000_001)).toThrow(
      saying(
        'rskip398 would change in a block of the upstream; on this fork rules can change from block 9000001 on.',
      ),
    )
  })

  it('are kept as changes, which give them back', () => {
    const name = fc.constantFrom(...RULE_NAMES.filter((rule) => !DRAFT_RULES.includes(rule)))
    const height = fc.option(fc.nat(1000))
    fc.assert(
      fc.property(fc.dictionary(name, height, { maxKeys: 8 }), (rules) => {
        const found = regtest({ rules })
        const changes = changesOf({ network: NETWORKS.regtest, ruleHeights: found })
        expect(changedHeights(NETWORKS.regtest, changes)).toEqual(found)
        for (const rule of Object.keys(changes)) expect(rules).toHaveProperty(rule)
      }),
    )
    expect(describeChanges({ rskip559: null, rskip398: 4 })).toBe('rskip559 never, rskip398 from block 4')
  })
})

describe('the constants of a chain', () => {
  it('follow its rules', () => {
    const before = withRules(CHAINS.regtest, regtest({ deactivate: ['rskip351', 'rskip252', 'rskip179'] }))
    expect(before.rulesAt(5)).toMatchObject({ headerVersion: 0, parallelSublists: false })
    expect(CHAINS.regtest.rulesAt(5)).toMatchObject({ headerVersion: 2, parallelSublists: true })
    expect(before.gasPriceCapAt(5)).toBeUndefined()
    expect(before.parentChainTimeWindowAt(5)).toBeUndefined()
    expect(withRules(CHAINS.regtest, regtest({ activate: ['rskip351@9'] })).rulesAt(8).headerVersion).toBe(0)
  })
})
