/** The contracts whose code runs on the storage of an account; codes and slots are those of the standards. */
import { describe, expect, it } from 'vitest'
import { EMPTY_ACCOUNT } from '../../src/chain/account.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { codeChain } from '../../src/execution/proxies.ts'
import { Overlay } from '../../src/state/overlay.ts'
import { NOTHING } from '../support/execution.ts'

const at = (digits: string): Hex => `0x${digits.padStart(40, '0')}`
const [A, B, C] = [at('a'), at('b'), at('c')]
const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn
const BEACON_SLOT = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50n
const OTHER = '0x5f5ff3'
const minimal = (target: Hex): Hex => `0x363d3d373d3d3d363d73${target.slice(2)}5af43d82803e903d91602b57fd5bf3`

describe('codeChain', () => {
  it.each<[string, Record<Hex, Hex>, Record<Hex, Record<string, Hex>>, readonly Hex[]]>([
    ['a contract that is no proxy', { [A]: OTHER }, {}, [A]],
    ['an account without code', {}, { [A]: { [`${IMPLEMENTATION_SLOT}`]: B } }, [A]],
    ['a minimal proxy', { [A]: minimal(B), [B]: OTHER }, {}, [A, B]],
    ['a minimal proxy of an account without code', { [A]: minimal(B) }, {}, [A, B]],
    ['minimal proxies of each other', { [A]: minimal(B), [B]: minimal(A) }, {}, [A, B]],
    ['a minimal proxy of itself', { [A]: minimal(A) }, {}, [A]],
    [
      'a minimal proxy of a proxy, whose slot is its own',
      { [A]: minimal(B), [B]: OTHER, [C]: OTHER },
      { [A]: { [`${IMPLEMENTATION_SLOT}`]: C }, [B]: { [`${IMPLEMENTATION_SLOT}`]: at('d') } },
      [A, B, C],
    ],
    [
      'a beacon',
      { [A]: OTHER, [B]: OTHER, [C]: OTHER },
      { [A]: { [`${BEACON_SLOT}`]: B }, [B]: { 1: C } },
      [A, C],
    ],
    [
      'a slot that has no address',
      { [A]: OTHER },
      { [A]: { [`${IMPLEMENTATION_SLOT}`]: `0x1${B.slice(2)}` } },
      [A],
    ],
    [
      'more proxies than are followed',
      {
        [A]: minimal(B),
        [B]: minimal(C),
        [C]: minimal(at('d')),
        [at('d')]: minimal(at('e')),
        [at('e')]: minimal(at('f')),
      },
      {},
      [A, B, C, at('d'), at('e')],
    ],
  ])('of %s', (_, codes, words, chain) => {
    const state = new Overlay(NOTHING)
    for (const address of [A, B]) state.putAccount(address, EMPTY_ACCOUNT)
    for (const [address, code] of Object.entries(codes)) state.putCode(address as Hex, fromHex(code))
    for (const [address, slots] of Object.entries(words)) {
      for (const [slot, word] of Object.entries(slots)) {
        state.putStorage(address as Hex, BigInt(slot), BigInt(word))
      }
    }
    expect(codeChain(state, A)).toEqual(chain)
  })
})
